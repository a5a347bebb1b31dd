package compat;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;
import com.fasterxml.jackson.databind.json.JsonMapper;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.regex.Pattern;

/** Makes outputs of two brokers comparable: what differs by nature gets a name. */
final class Normal {
    private static final Pattern UUID = Pattern.compile("[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}");
    private static final Pattern ID = Pattern.compile("(?<![A-Za-z0-9_./-])(?=[A-Za-z0-9_-]*[A-Z0-9])[A-Za-z0-9_-]{22}(?![A-Za-z0-9_./-])");
    private static final Pattern TIME = Pattern.compile("(?<!\\d)1[78]\\d{11}(?!\\d)");
    private static final Pattern NUMBERED_GROUP = Pattern.compile("console-consumer-\\d+");
    private static final Pattern SIZE = Pattern.compile("\"size\":\\d+");
    private static final Pattern THROUGHPUT = Pattern.compile("\"avg_throughput\":[\\d.]+");
    private static final Pattern NUMBER = Pattern.compile("-?\\d+([.,:]\\d+)*|NaN");
    private static final ObjectMapper JSON = JsonMapper.builder()
        .configure(SerializationFeature.ORDER_MAP_ENTRIES_BY_KEYS, true).build();
    private static final String ADVICE = "consumer rebalance protocol (KIP-848)";
    private static final Pattern STACK = Pattern.compile("^at [\\w.$/<>]+\\(");
    private static final Pattern BLANKS = Pattern.compile("[ \\t]+");

    private final String broker;
    private final String data;

    Normal(String broker, String data) {
        this.broker = broker;
        this.data = data;
    }

    /** Trailing blanks and empty lines go, runs of blanks become one (columns are as wide as the ids in them). */
    List<String> lines(Command.Result result, boolean sorted, boolean numbers, String only) {
        List<String> lines = new ArrayList<>();
        Pattern wanted = only == null ? null : Pattern.compile(only);
        for (String line : result.output.split("\r?\n")) {
            String text = BLANKS.matcher(named(line)).replaceAll(" ").strip();
            if (numbers) {
                text = NUMBER.matcher(text).replaceAll("<n>");
            }
            if (!text.isEmpty() && !STACK.matcher(text).find() && !text.contains(ADVICE)
                    && (wanted == null || wanted.matcher(text).find())) {
                lines.add(text);
            }
        }
        if (sorted) {
            lines.sort(null);
        }
        if (numbers) {
            lines = new ArrayList<>(lines.stream().distinct().toList());
        }
        if (result.exit != 0) {
            lines.addAll(Arrays.asList("exit " + result.exit));
        }
        return lines;
    }

    private String named(String line) {
        String text = fieldsInOrder(line).replace(data, "<data>").replace(broker, "<broker>")
            .replace(broker.substring(broker.indexOf(':')), ":<port>");
        text = NUMBERED_GROUP.matcher(text).replaceAll("console-consumer-<n>");
        text = UUID.matcher(text).replaceAll("<uuid>");
        text = ID.matcher(text).replaceAll("<id>");
        text = TIME.matcher(text).replaceAll("<time>");
        text = THROUGHPUT.matcher(text).replaceAll("\"avg_throughput\":<n>");
        return SIZE.matcher(text).replaceAll("\"size\":<n>");
    }

    /** The tools take the fields of their JSON from hash tables, whose order differs from run to run. */
    private static String fieldsInOrder(String line) {
        if (!line.startsWith("{")) {
            return line;
        }
        try {
            return JSON.writeValueAsString(JSON.readValue(line, Object.class));
        } catch (JsonProcessingException e) {
            return line;
        }
    }
}
