import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.*;
import org.apache.kafka.clients.consumer.*;
import org.apache.kafka.clients.producer.*;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.internals.RecordHeader;
import org.apache.kafka.common.record.TimestampType;
import org.apache.kafka.common.serialization.*;

/** With every codec: keys, values, nulls, headers and timestamps come back as they were sent, in order, once. */
public final class ProduceConsume {
    private static final long BASE_TIMESTAMP = System.currentTimeMillis() - 100_000;

    public static void main(String[] args) throws Exception {
        for (String codec : List.of("none", "gzip", "snappy", "lz4", "zstd")) {
            String topic = "codec-" + codec;
            List<ProducerRecord<byte[], byte[]>> sent = records(topic, 200);
            produce(args[0], codec, sent);
            compare(sent, consume(args[0], topic, sent.size()));
            Check.say(codec + " " + sent.size());
        }
    }

    private static List<ProducerRecord<byte[], byte[]>> records(String topic, int count) {
        Random random = new Random(7);
        List<ProducerRecord<byte[], byte[]>> records = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            byte[] key = i % 5 == 0 ? null : ("key-" + i).getBytes(StandardCharsets.UTF_8);
            byte[] value = i % 7 == 0 ? null : new byte[i == 100 ? 400_000 : random.nextInt(300)];
            if (value != null) random.nextBytes(value);
            List<Header> headers = new ArrayList<>();
            for (int h = 0; h < i % 3; h++) headers.add(new RecordHeader("h\u00fc" + h, h == 1 ? null : new byte[] {(byte) i}));
            records.add(new ProducerRecord<>(topic, 0, BASE_TIMESTAMP + i, key, value, headers));
        }
        return records;
    }

    private static void produce(String bootstrap, String codec, List<ProducerRecord<byte[], byte[]>> records) throws Exception {
        Properties settings = Check.settings(bootstrap, "enable.idempotence", "true", "acks", "all",
            "compression.type", codec, "linger.ms", "5", "batch.size", "8192");
        try (var producer = new KafkaProducer<>(settings, new ByteArraySerializer(), new ByteArraySerializer())) {
            var futures = new ArrayList<java.util.concurrent.Future<RecordMetadata>>();
            for (var record : records) futures.add(producer.send(record));
            for (int i = 0; i < futures.size(); i++) Check.equal((long) i, futures.get(i).get().offset(), "offset");
        }
    }

    private static List<ConsumerRecord<byte[], byte[]>> consume(String bootstrap, String topic, int count) {
        Properties settings = Check.settings(bootstrap, "auto.offset.reset", "earliest", "enable.auto.commit", "false");
        List<ConsumerRecord<byte[], byte[]>> found = new ArrayList<>();
        try (var consumer = new KafkaConsumer<>(settings, new ByteArrayDeserializer(), new ByteArrayDeserializer())) {
            TopicPartition partition = new TopicPartition(topic, 0);
            consumer.assign(List.of(partition));
            long deadline = System.currentTimeMillis() + 20_000;
            while (found.size() < count && System.currentTimeMillis() < deadline)
                for (var record : consumer.poll(Duration.ofMillis(200))) found.add(record);
            Check.equal((long) count, consumer.endOffsets(List.of(partition)).get(partition), "end offset");
            long middle = BASE_TIMESTAMP + count / 2;
            Check.equal((long) count / 2, consumer.offsetsForTimes(Map.of(partition, middle)).get(partition).offset(), "offset of a time");
        }
        return found;
    }

    private static void compare(List<ProducerRecord<byte[], byte[]>> sent, List<ConsumerRecord<byte[], byte[]>> found) {
        Check.equal(sent.size(), found.size(), "records");
        for (int i = 0; i < sent.size(); i++) {
            var left = sent.get(i);
            var right = found.get(i);
            Check.equal((long) i, right.offset(), "offset");
            Check.that(Arrays.equals(left.key(), right.key()), "key of " + i);
            Check.that(Arrays.equals(left.value(), right.value()), "value of " + i);
            Check.equal(left.timestamp(), right.timestamp(), "timestamp of " + i);
            Check.equal(TimestampType.CREATE_TIME, right.timestampType(), "timestamp type of " + i);
            Check.equal(List.of(left.headers().toArray()), List.of(right.headers().toArray()), "headers of " + i);
        }
    }
}
