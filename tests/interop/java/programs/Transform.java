import java.time.Duration;
import java.util.*;
import org.apache.kafka.clients.consumer.*;
import org.apache.kafka.clients.producer.*;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.*;
import org.apache.kafka.common.serialization.*;

/**
 * Consume, transform, produce, exactly once: bootstrap group input output name stall-after settings...
 *
 * Every value goes out as "f(value)". Says "joined NAME COUNT", "did NAME TOTAL" after a commit, and, when so many
 * records have been done, "stalled NAME" inside an open transaction, where it waits to be killed.
 */
public final class Transform {
    public static void main(String[] args) {
        String group = args[1], output = args[3], name = args[4];
        int stallAfter = Integer.parseInt(args[5]);
        Properties settings = Check.settings(args[0], Arrays.copyOfRange(args, 6, args.length));
        settings.putAll(Map.of("group.id", group, "enable.auto.commit", "false", "auto.offset.reset", "earliest",
            "isolation.level", "read_committed", "max.poll.records", "20"));
        Properties writing = Check.settings(args[0], "transactional.id", name, "transaction.timeout.ms", "3000", "linger.ms", "0");
        int done = 0;
        var producer = new KafkaProducer<>(writing, new StringSerializer(), new StringSerializer());
        var consumer = new KafkaConsumer<>(settings, new StringDeserializer(), new StringDeserializer());
        producer.initTransactions();
        consumer.subscribe(List.of(args[2]), new ConsumerRebalanceListener() {
            public void onPartitionsRevoked(Collection<TopicPartition> partitions) {}
            public void onPartitionsAssigned(Collection<TopicPartition> partitions) {
                Check.say("joined " + name + " " + consumer.assignment().size());
            }
        });
        while (true) {
            ConsumerRecords<String, String> records = consumer.poll(Duration.ofMillis(100));
            if (records.isEmpty()) continue;
            try {
                producer.beginTransaction();
                for (var record : records) producer.send(new ProducerRecord<>(output, record.partition(), record.key(), "f(" + record.value() + ")"));
                producer.sendOffsetsToTransaction(next(records), consumer.groupMetadata());
                if (done >= stallAfter) {
                    producer.flush();
                    Check.say("stalled " + name);
                    Thread.sleep(60_000);
                }
                producer.commitTransaction();
            } catch (ProducerFencedException | InvalidProducerEpochException fatal) {
                throw fatal;
            } catch (KafkaException abortable) {
                Check.say("aborted " + name + " " + abortable.getClass().getSimpleName());
                producer.abortTransaction();
                rewind(consumer);
                continue;
            } catch (InterruptedException ended) {
                return;
            }
            done += records.count();
            Check.say("did " + name + " " + done);
        }
    }

    private static Map<TopicPartition, OffsetAndMetadata> next(ConsumerRecords<String, String> records) {
        Map<TopicPartition, OffsetAndMetadata> next = new HashMap<>();
        for (TopicPartition partition : records.partitions()) {
            var found = records.records(partition);
            next.put(partition, new OffsetAndMetadata(found.get(found.size() - 1).offset() + 1));
        }
        return next;
    }

    private static void rewind(KafkaConsumer<String, String> consumer) {
        Map<TopicPartition, OffsetAndMetadata> committed = consumer.committed(consumer.assignment());
        for (TopicPartition partition : consumer.assignment()) {
            OffsetAndMetadata offset = committed.get(partition);
            consumer.seek(partition, offset == null ? 0 : offset.offset());
        }
    }
}
