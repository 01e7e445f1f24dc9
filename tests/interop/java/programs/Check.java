import java.util.Objects;
import java.util.Properties;

/** What the programs share: settings from pairs, and checks that end the program with a reason. */
final class Check {
    private Check() {}

    static void that(boolean holds, String what) {
        if (!holds) throw new AssertionError(what);
    }

    static void equal(Object expected, Object found, String what) {
        that(Objects.equals(expected, found), what + ": expected " + expected + ", found " + found);
    }

    static Properties settings(String bootstrapServers, String... pairs) {
        Properties settings = new Properties();
        settings.put("bootstrap.servers", bootstrapServers);
        for (int i = 0; i < pairs.length; i += 2) settings.put(pairs[i], pairs[i + 1]);
        return settings;
    }

    /** One line for the test that started us; lines of threads do not mix. */
    static synchronized void say(String line) {
        System.out.println(line);
        System.out.flush();
    }
}
