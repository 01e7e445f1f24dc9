import java.time.Duration;
import java.util.*;
import org.apache.kafka.clients.consumer.*;
import org.apache.kafka.clients.producer.*;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.*;
import org.apache.kafka.common.serialization.*;

/** The life of transactions: commit, abort, offsets inside, a zombie fenced by a second instance, a timeout. */
public final class Transactions {
    private static String bootstrap;

    public static void main(String[] args) throws Exception {
        bootstrap = args[0];
        commitsAndAborts();
        offsets();
        zombie();
        timeout();
    }

    private static KafkaProducer<String, String> producer(String id, int timeoutMs) {
        Properties settings = Check.settings(bootstrap, "transactional.id", id, "transaction.timeout.ms", "" + timeoutMs,
            "delivery.timeout.ms", "20000", "request.timeout.ms", "10000", "linger.ms", "0");
        var producer = new KafkaProducer<>(settings, new StringSerializer(), new StringSerializer());
        producer.initTransactions();
        return producer;
    }

    private static void commitsAndAborts() {
        List<String> committed = new ArrayList<>();
        List<String> all = new ArrayList<>();
        try (var producer = producer("tx-life", 60_000)) {
            for (int i = 0; i < 20; i++) {
                producer.beginTransaction();
                for (int partition = 0; partition < 3; partition++) {
                    String value = i + "/" + partition;
                    producer.send(new ProducerRecord<>("tx-life", partition, null, value));
                    all.add(value);
                    if (i % 3 != 0) committed.add(value);
                }
                if (i % 3 != 0) producer.commitTransaction(); else { producer.flush(); producer.abortTransaction(); }
            }
            producer.beginTransaction();
            producer.commitTransaction();
            producer.beginTransaction();
            producer.abortTransaction();
        }
        Check.equal(sorted(committed), sorted(read("tx-life", 3, "read_committed")), "committed");
        Check.equal(sorted(all), sorted(read("tx-life", 3, "read_uncommitted")), "everything");
        Check.say("committed " + committed.size() + " of " + all.size());
    }

    private static void offsets() {
        TopicPartition partition = new TopicPartition("tx-life", 1);
        var group = Check.settings(bootstrap, "group.id", "tx-offsets", "enable.auto.commit", "false");
        try (var producer = producer("tx-offsets", 60_000);
             var consumer = new KafkaConsumer<>(group, new StringDeserializer(), new StringDeserializer())) {
            consumer.assign(List.of(partition));
            producer.beginTransaction();
            producer.sendOffsetsToTransaction(Map.of(partition, new OffsetAndMetadata(5, "five")), new ConsumerGroupMetadata("tx-offsets"));
            producer.commitTransaction();
            Check.equal(new OffsetAndMetadata(5, "five"), consumer.committed(Set.of(partition)).get(partition), "after the commit");
            producer.beginTransaction();
            producer.sendOffsetsToTransaction(Map.of(partition, new OffsetAndMetadata(9)), new ConsumerGroupMetadata("tx-offsets"));
            producer.abortTransaction();
            Check.equal(5L, consumer.committed(Set.of(partition)).get(partition).offset(), "after the abort");
        }
        Check.say("offsets 5");
    }

    private static void zombie() throws Exception {
        var zombie = producer("tx-zombie", 60_000);
        zombie.beginTransaction();
        zombie.send(new ProducerRecord<>("tx-zombie", "of the zombie")).get();
        try (var second = producer("tx-zombie", 60_000)) {
            String error = "none";
            try {
                zombie.send(new ProducerRecord<>("tx-zombie", "too late"));
                zombie.commitTransaction();
            } catch (ProducerFencedException | InvalidProducerEpochException fenced) {
                error = fenced.getClass().getSimpleName();
            }
            Check.that(!error.equals("none"), "the zombie committed");
            second.beginTransaction();
            second.send(new ProducerRecord<>("tx-zombie", "of the second"));
            second.commitTransaction();
            Check.say("fenced " + error);
        }
        zombie.close(Duration.ZERO);
        Check.equal(List.of("of the second"), read("tx-zombie", 1, "read_committed"), "after the zombie");
    }

    private static void timeout() throws Exception {
        var slow = producer("tx-slow", 2_000);
        slow.beginTransaction();
        slow.send(new ProducerRecord<>("tx-slow", "forgotten")).get();
        try (var other = producer("tx-quick", 60_000)) {
            other.beginTransaction();
            other.send(new ProducerRecord<>("tx-slow", "behind it"));
            other.commitTransaction();
        }
        // The reader waits: the records of the other producer appear when the slow one has been aborted.
        Check.equal(List.of("behind it"), read("tx-slow", 1, "read_committed", 1), "after the timeout");
        String error = "none";
        try {
            slow.commitTransaction();
        } catch (ProducerFencedException | InvalidProducerEpochException | InvalidTxnStateException late) {
            error = late.getClass().getSimpleName();
        } catch (org.apache.kafka.common.KafkaException late) {
            error = late.getClass().getSimpleName();
        }
        Check.that(!error.equals("none"), "a transaction that timed out was committed");
        slow.close(Duration.ZERO);
        Check.say("timed out " + error);
    }

    private static List<String> read(String topic, int partitions, String isolation) {
        return read(topic, partitions, isolation, -1);
    }

    /** Everything up to the end of the log as it is now, or the first so many records. */
    private static List<String> read(String topic, int partitions, String isolation, int wanted) {
        Properties settings = Check.settings(bootstrap, "isolation.level", isolation, "auto.offset.reset", "earliest",
            "enable.auto.commit", "false");
        List<String> values = new ArrayList<>();
        try (var consumer = new KafkaConsumer<>(settings, new StringDeserializer(), new StringDeserializer())) {
            List<TopicPartition> assigned = new ArrayList<>();
            for (int i = 0; i < partitions; i++) assigned.add(new TopicPartition(topic, i));
            consumer.assign(assigned);
            consumer.seekToBeginning(assigned);
            Map<TopicPartition, Long> ends = consumer.endOffsets(assigned);
            long deadline = System.currentTimeMillis() + 20_000;
            while (System.currentTimeMillis() < deadline) {
                for (var record : consumer.poll(Duration.ofMillis(100))) values.add(record.value());
                boolean isDone = wanted >= 0 ? values.size() >= wanted
                    : ends.entrySet().stream().allMatch(end -> consumer.position(end.getKey()) >= end.getValue());
                if (isDone) return values;
            }
        }
        throw new AssertionError("no end of " + topic + " in sight, read " + values.size());
    }

    private static List<String> sorted(List<String> values) {
        List<String> copy = new ArrayList<>(values);
        Collections.sort(copy);
        return copy;
    }
}
