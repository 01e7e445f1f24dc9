import java.io.*;
import java.nio.charset.StandardCharsets;
import java.util.*;
import org.apache.kafka.common.utils.Exit;

/**
 * Runs Kafka's own command line tools one after another in one JVM. Standard input: one command per line, its words
 * divided by tabs: class, then arguments; words after a tab and "<" are the command's standard input, one per line.
 * Before each output there is a line "### COMMAND NUMBER", after it "### EXIT CODE".
 */
public final class Tools {
    private static final class Ended extends RuntimeException {
        Ended() {
            super(null, null, false, false);
        }
    }

    /** The first one counts: some tools catch what their own exit throws, and exit again with another. */
    private static Integer exitCode;

    private static void end(int code, String message) {
        if (exitCode == null) exitCode = code;
        throw new Ended();
    }

    public static void main(String[] args) throws Exception {
        PrintStream out = System.out;
        Exit.setExitProcedure(Tools::end);
        Exit.setHaltProcedure(Tools::end);
        BufferedReader commands = new BufferedReader(new InputStreamReader(System.in));
        int number = 0;
        for (String line; (line = commands.readLine()) != null; number++) {
            List<String> words = new ArrayList<>(List.of(line.split("\t", -1)));
            int input = words.indexOf("<");
            List<String> typed = input < 0 ? List.of() : words.subList(input + 1, words.size());
            System.setIn(new ByteArrayInputStream((String.join("\n", typed) + "\n").getBytes(StandardCharsets.UTF_8)));
            List<String> command = input < 0 ? words : words.subList(0, input);
            ByteArrayOutputStream captured = new ByteArrayOutputStream();
            System.setOut(new PrintStream(captured, true));
            int code = run(command);
            System.out.flush();
            System.setOut(out);
            out.println("### COMMAND " + number);
            out.print(captured);
            out.println("\n### EXIT " + code);
        }
        out.flush();
        Runtime.getRuntime().halt(0);
    }

    private static int run(List<String> command) throws Exception {
        exitCode = null;
        try {
            String[] arguments = command.subList(1, command.size()).toArray(new String[0]);
            Class.forName(command.get(0)).getMethod("main", String[].class).invoke(null, (Object) arguments);
        } catch (java.lang.reflect.InvocationTargetException thrown) {
            if (!(thrown.getCause() instanceof Ended)) {
                thrown.getCause().printStackTrace(System.out);
                return 99;
            }
        }
        return exitCode == null ? 0 : exitCode;
    }
}
