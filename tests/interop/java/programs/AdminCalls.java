import java.util.*;
import java.util.concurrent.ExecutionException;
import org.apache.kafka.clients.admin.*;
import org.apache.kafka.clients.consumer.*;
import org.apache.kafka.clients.producer.*;
import org.apache.kafka.common.*;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.errors.*;
import org.apache.kafka.common.serialization.*;

/** What an administrator asks: topics, settings, partitions, groups, offsets, records, producers, transactions. */
public final class AdminCalls {
    private static final TopicPartition FIRST = new TopicPartition("admin", 0);
    private static Admin admin;
    private static String bootstrap;

    public static void main(String[] args) throws Exception {
        bootstrap = args[0];
        try (Admin opened = Admin.create(Check.settings(bootstrap))) {
            admin = opened;
            cluster();
            topics();
            settings();
            records();
            groups();
            transactions();
            deletion();
        }
    }

    private static void cluster() throws Exception {
        var cluster = admin.describeCluster();
        Check.equal(1, cluster.nodes().get().size(), "nodes");
        Check.equal(cluster.controller().get(), cluster.nodes().get().iterator().next(), "controller");
        Check.that(!cluster.clusterId().get().isEmpty(), "cluster id");
        var features = admin.describeFeatures().featureMetadata().get();
        Check.equal((short) 2, features.finalizedFeatures().get("transaction.version").maxVersionLevel(), "transaction.version");
        Check.say("cluster");
    }

    private static void topics() throws Exception {
        admin.createTopics(List.of(new NewTopic("admin", 2, (short) 1).configs(Map.of("retention.ms", "123456")))).all().get();
        Check.equal(TopicExistsException.class, failure(admin.createTopics(List.of(new NewTopic("admin", 2, (short) 1))).all()), "a second time");
        TopicDescription found = admin.describeTopics(List.of("admin")).allTopicNames().get().get("admin");
        Check.equal(2, found.partitions().size(), "partitions");
        Check.equal("admin", admin.describeTopics(TopicCollection.ofTopicIds(List.of(found.topicId()))).allTopicIds().get().get(found.topicId()).name(), "by id");
        Check.equal(UnknownTopicOrPartitionException.class, failure(admin.describeTopics(List.of("absent")).allTopicNames()), "absent");
        admin.createPartitions(Map.of("admin", NewPartitions.increaseTo(3))).all().get();
        Check.equal(3, admin.describeTopics(List.of("admin")).allTopicNames().get().get("admin").partitions().size(), "more partitions");
        Check.equal(InvalidPartitionsException.class, failure(admin.createPartitions(Map.of("admin", NewPartitions.increaseTo(1))).all()), "fewer");
        Check.that(admin.listTopics().names().get().contains("admin"), "listed");
        Check.say("topics");
    }

    private static void settings() throws Exception {
        ConfigResource topic = new ConfigResource(ConfigResource.Type.TOPIC, "admin");
        Check.equal("123456", setting(topic, "retention.ms"), "setting at creation");
        admin.incrementalAlterConfigs(Map.of(topic, List.of(
            new AlterConfigOp(new ConfigEntry("max.message.bytes", "5000"), AlterConfigOp.OpType.SET),
            new AlterConfigOp(new ConfigEntry("retention.ms", ""), AlterConfigOp.OpType.DELETE)))).all().get();
        Check.equal("5000", setting(topic, "max.message.bytes"), "set");
        Check.equal("604800000", setting(topic, "retention.ms"), "back to the default");
        Check.equal(InvalidConfigurationException.class, failure(admin.incrementalAlterConfigs(Map.of(topic, List.of(
            new AlterConfigOp(new ConfigEntry("retention.ms", "soon"), AlterConfigOp.OpType.SET)))).all()), "nonsense");
        ConfigResource broker = new ConfigResource(ConfigResource.Type.BROKER, admin.describeCluster().nodes().get().iterator().next().idString());
        Check.that(setting(broker, "num.partitions") != null, "setting of the broker");
        Check.say("settings");
    }

    private static void records() throws Exception {
        try (var producer = new KafkaProducer<>(Check.settings(bootstrap), new StringSerializer(), new StringSerializer())) {
            for (int i = 0; i < 10; i++) producer.send(new ProducerRecord<>("admin", 0, 1_000L + i, null, "value " + i));
        }
        Check.equal(10L, offset(OffsetSpec.latest()), "latest");
        Check.equal(9L, offset(OffsetSpec.maxTimestamp()), "of the highest time");
        Check.equal(4L, offset(OffsetSpec.forTimestamp(1_004)), "of a time");
        Check.equal(4L, admin.deleteRecords(Map.of(FIRST, RecordsToDelete.beforeOffset(4))).lowWatermarks().get(FIRST).get().lowWatermark(), "low watermark");
        Check.equal(4L, offset(OffsetSpec.earliest()), "earliest");
        Check.equal(org.apache.kafka.common.errors.OffsetOutOfRangeException.class, failure(admin.deleteRecords(Map.of(FIRST, RecordsToDelete.beforeOffset(99))).all()), "beyond the end");
        Check.say("records");
    }

    private static void groups() throws Exception {
        admin.alterConsumerGroupOffsets("admin-group", Map.of(FIRST, new OffsetAndMetadata(6, "six"))).all().get();
        Check.equal(new OffsetAndMetadata(6, Optional.empty(), "six"), admin.listConsumerGroupOffsets("admin-group").partitionsToOffsetAndMetadata().get().get(FIRST), "altered offset");
        Check.that(admin.listConsumerGroups().all().get().stream().anyMatch(group -> group.groupId().equals("admin-group")), "listed");
        ConsumerGroupDescription described = admin.describeConsumerGroups(List.of("admin-group")).all().get().get("admin-group");
        Check.equal("Empty", described.state().toString(), "state");
        admin.deleteConsumerGroupOffsets("admin-group", Set.of(FIRST)).all().get();
        Check.that(admin.listConsumerGroupOffsets("admin-group").partitionsToOffsetAndMetadata().get().get(FIRST) == null, "deleted offset");
        admin.alterConsumerGroupOffsets("admin-group", Map.of(FIRST, new OffsetAndMetadata(6))).all().get();
        admin.deleteConsumerGroups(List.of("admin-group")).all().get();
        Check.equal(GroupIdNotFoundException.class, failure(admin.deleteConsumerGroups(List.of("admin-group")).all()), "a second time");
        Check.say("groups");
    }

    private static void transactions() throws Exception {
        var settings = Check.settings(bootstrap, "transactional.id", "admin-tx");
        try (var producer = new KafkaProducer<>(settings, new StringSerializer(), new StringSerializer())) {
            producer.initTransactions();
            producer.beginTransaction();
            producer.send(new ProducerRecord<>("admin", 0, null, "open")).get();
            TransactionDescription open = admin.describeTransactions(List.of("admin-tx")).all().get().get("admin-tx");
            Check.equal(TransactionState.ONGOING, open.state(), "state");
            Check.equal(Set.of(FIRST), open.topicPartitions(), "partitions");
            var listed = admin.listTransactions(new ListTransactionsOptions().filterStates(Set.of(TransactionState.ONGOING))).all().get();
            Check.that(listed.stream().anyMatch(each -> each.transactionalId().equals("admin-tx")), "listed");
            ProducerState state = admin.describeProducers(List.of(FIRST)).all().get().get(FIRST).activeProducers().stream()
                .filter(each -> each.producerId() == open.producerId()).findFirst().orElseThrow();
            Check.equal(OptionalLong.of(10), state.currentTransactionStartOffset(), "start of the transaction");
            admin.fenceProducers(List.of("admin-tx")).all().get();
            Class<?> fenced = Object.class;
            try {
                producer.send(new ProducerRecord<>("admin", 0, null, "late"));
                producer.commitTransaction();
            } catch (KafkaException expected) {
                fenced = expected.getClass();
            }
            Check.that(fenced == ProducerFencedException.class || fenced == InvalidProducerEpochException.class, "fenced with " + fenced);
        }
        Check.equal(TransactionalIdNotFoundException.class, failure(admin.describeTransactions(List.of("never")).all()), "unknown id");
        hanging();
        Check.say("transactions");
    }

    /** The administrator's way out for a partition: an abort marker with the producer's own epoch. */
    private static void hanging() throws Exception {
        var settings = Check.settings(bootstrap, "transactional.id", "admin-hanging");
        var producer = new KafkaProducer<>(settings, new StringSerializer(), new StringSerializer());
        producer.initTransactions();
        producer.beginTransaction();
        long offset = producer.send(new ProducerRecord<>("admin", 1, null, "hangs")).get().offset();
        TopicPartition partition = new TopicPartition("admin", 1);
        ProducerState state = admin.describeProducers(List.of(partition)).all().get().get(partition).activeProducers().get(0);
        admin.abortTransaction(new AbortTransactionSpec(partition, state.producerId(), (short) state.producerEpoch(), -1)).all().get();
        var options = new ListOffsetsOptions(IsolationLevel.READ_COMMITTED);
        long stable = admin.listOffsets(Map.of(partition, OffsetSpec.latest()), options).all().get().get(partition).offset();
        Check.equal(offset + 2, stable, "last stable offset after the abort");
        producer.close(java.time.Duration.ZERO);
    }

    private static void deletion() throws Exception {
        admin.deleteTopics(List.of("admin")).all().get();
        Check.that(!admin.listTopics().names().get().contains("admin"), "deleted");
        Check.equal(UnknownTopicOrPartitionException.class, failure(admin.deleteTopics(List.of("admin")).all()), "a second time");
        Check.say("deletion");
    }

    private static String setting(ConfigResource resource, String name) throws Exception {
        ConfigEntry entry = admin.describeConfigs(List.of(resource)).all().get().get(resource).get(name);
        return entry == null ? null : entry.value();
    }

    private static long offset(OffsetSpec spec) throws Exception {
        return admin.listOffsets(Map.of(FIRST, spec)).all().get().get(FIRST).offset();
    }

    private static Class<?> failure(KafkaFuture<?> future) throws InterruptedException {
        try {
            future.get();
            return null;
        } catch (ExecutionException failed) {
            return failed.getCause().getClass();
        }
    }
}
