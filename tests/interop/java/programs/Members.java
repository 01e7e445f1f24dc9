import java.io.*;
import java.time.Duration;
import java.util.*;
import java.util.concurrent.*;
import org.apache.kafka.clients.consumer.*;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.*;
import org.apache.kafka.common.serialization.*;

/**
 * Members of a group, one thread each: bootstrap group topic names(,) then settings in pairs.
 *
 * Says "assigned NAME COUNT" on every assignment, and "committed NAME PARTITION FROM TO" after each successful commit.
 * Commands on standard input: "leave NAME", "stall NAME" (poll once more, say "stalled NAME", commit nothing), "quit".
 */
public final class Members {
    public static void main(String[] args) throws Exception {
        Map<String, Member> members = new LinkedHashMap<>();
        for (String name : args[3].split(",")) {
            Properties settings = Check.settings(args[0], Arrays.copyOfRange(args, 4, args.length));
            settings.put("group.id", args[1]);
            settings.put("enable.auto.commit", "false");
            settings.put("auto.offset.reset", "earliest");
            if (settings.containsKey("is.static")) settings.put("group.instance.id", "instance-" + name);
            settings.remove("is.static");
            Member member = new Member(name, args[2], settings);
            members.put(name, member);
            member.start();
        }
        BufferedReader commands = new BufferedReader(new InputStreamReader(System.in));
        for (String line; (line = commands.readLine()) != null && !line.equals("quit"); ) {
            String[] words = line.split(" ");
            if (words[0].equals("stall")) members.get(words[1]).stalls = true;
            if (words[0].equals("leave")) members.get(words[1]).leaves = true;
        }
        for (Member member : members.values()) member.leaves = true;
        for (Member member : members.values()) member.join(10_000);
    }

    private static final class Member extends Thread {
        volatile boolean stalls, leaves;
        private final String topic;
        private final Properties settings;

        Member(String name, String topic, Properties settings) {
            super(name);
            this.topic = topic;
            this.settings = settings;
        }

        @Override
        public void run() {
            try (var consumer = new KafkaConsumer<>(settings, new StringDeserializer(), new StringDeserializer())) {
                consumer.subscribe(List.of(topic), new ConsumerRebalanceListener() {
                    public void onPartitionsRevoked(Collection<TopicPartition> partitions) {}
                    public void onPartitionsAssigned(Collection<TopicPartition> partitions) {
                        Check.say("assigned " + getName() + " " + consumer.assignment().size());
                    }
                });
                while (!leaves) turn(consumer);
            } catch (RuntimeException problem) {
                Check.say("failed " + getName() + " " + problem);
                throw problem;
            }
            Check.say("left " + getName());
        }

        private void turn(KafkaConsumer<String, String> consumer) {
            ConsumerRecords<String, String> records = consumer.poll(Duration.ofMillis(100));
            if (records.isEmpty()) return;
            if (stalls) {
                Check.say("stalled " + getName());
                while (true) waitToBeKilled();
            }
            Map<TopicPartition, OffsetAndMetadata> next = new HashMap<>();
            for (TopicPartition partition : records.partitions()) {
                List<ConsumerRecord<String, String>> found = records.records(partition);
                next.put(partition, new OffsetAndMetadata(found.get(found.size() - 1).offset() + 1));
            }
            try {
                consumer.commitSync(next);
            } catch (CommitFailedException | RebalanceInProgressException lost) {
                // Who has the partitions now reads these records again. That can be this member: a rebalance also
                // refuses commits of partitions that stay where they are.
                for (TopicPartition partition : records.partitions())
                    if (consumer.assignment().contains(partition))
                        consumer.seek(partition, records.records(partition).get(0).offset());
                return;
            }
            for (TopicPartition partition : records.partitions())
                Check.say("committed " + getName() + " " + partition.partition() + " "
                    + records.records(partition).get(0).offset() + " " + next.get(partition).offset());
        }

        private static void waitToBeKilled() {
            try {
                Thread.sleep(1000);
            } catch (InterruptedException ended) {
                throw new RuntimeException(ended);
            }
        }
    }
}
