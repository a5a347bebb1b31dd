package compat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Runs scripts of official tools in this one JVM and writes what each printed, made comparable, to a file.
 * Arguments: broker (host:port), its data directory, the file of tool names, a folder for the output, scripts.
 * The language of the scripts is told in compat-tests/README.md.
 */
public final class ToolRunner {
    private final Map<String, String> classes;
    private final Map<String, Command> background = new HashMap<>();
    private final String broker;
    private final String data;
    private final Normal normal;

    private ToolRunner(String broker, String data, Map<String, String> classes) {
        this.broker = broker;
        this.data = data;
        this.classes = classes;
        this.normal = new Normal(broker, data);
    }

    public static void main(String[] args) throws Exception {
        Map<String, String> classes = new HashMap<>();
        for (String line : Files.readAllLines(Paths.get(args[2]))) {
            String[] words = line.split(" ");
            classes.put(words[0], words[1]);
        }
        Command.takeOverTheProcess();
        Path output = Paths.get(args[3]);
        for (String script : Arrays.asList(args).subList(4, args.length)) {
            Path path = Paths.get(script);
            long start = System.currentTimeMillis();
            ToolRunner runner = new ToolRunner(args[0], args[1], classes);
            List<String> transcript = runner.run(Files.readAllLines(path));
            Files.write(output.resolve(path.getFileName()), transcript, StandardCharsets.UTF_8);
            Command.stdout().printf("%s: %d lines in %d ms%n", path.getFileName(), transcript.size(),
                System.currentTimeMillis() - start);
        }
        Runtime.getRuntime().halt(0);
    }

    private List<String> run(List<String> script) throws Exception {
        List<String> transcript = new ArrayList<>();
        for (int i = 0; i < script.size(); i++) {
            String line = script.get(i);
            if (line.isEmpty() || line.startsWith("#")) {
                continue;
            }
            StringBuilder input = new StringBuilder();
            while (i + 1 < script.size() && script.get(i + 1).startsWith("|")) {
                String text = script.get(++i);
                input.append(text.length() > 2 ? text.substring(2) : "").append('\n');
            }
            transcript.add("$ " + line);
            transcript.addAll(step(line, input.toString()));
        }
        if (!background.isEmpty()) {
            throw new IOException("never awaited: " + background.keySet());
        }
        return transcript;
    }

    /** One line of a script: adverbs, then a tool with its arguments. */
    private List<String> step(String line, String input) throws Exception {
        boolean sorted = false;
        boolean numbers = false;
        boolean status = false;
        String only = null;
        String until = null;
        String inBackground = null;
        List<String> words = new ArrayList<>(words(line));
        while (true) {
            String word = words.remove(0);
            switch (word) {
                case "sorted" -> sorted = true;
                case "numbers" -> numbers = true;
                case "status" -> status = true;
                case "only" -> only = words.remove(0);
                case "until" -> until = words.remove(0);
                case "background" -> inBackground = words.remove(0);
                case "await" -> {
                    return normal.lines(background.remove(words.remove(0)).finish(), false, false, null);
                }
                default -> {
                    Command command = command(word, words, input);
                    command.start();
                    if (inBackground != null) {
                        background.put(inBackground, command);
                        return List.of();
                    }
                    Command.Result result = command.finish();
                    long end = System.nanoTime() + 30_000_000_000L;
                    while (until != null && !result.output.contains(until) && System.nanoTime() < end) {
                        command = command(word, words, input);
                        command.start();
                        result = command.finish();
                    }
                    return status ? List.of("exit " + result.exit) : normal.lines(result, sorted, numbers, only);
                }
            }
        }
    }

    private Command command(String tool, List<String> arguments, String input) throws IOException {
        String main = classes.get(tool);
        if (main == null) {
            throw new IOException("no tool is called " + tool);
        }
        return new Command(main, arguments, input);
    }

    /** Splits at blanks; single quotes keep a word together. */
    private List<String> words(String line) {
        List<String> words = new ArrayList<>();
        StringBuilder word = new StringBuilder();
        boolean quoted = false;
        boolean any = false;
        for (char c : line.toCharArray()) {
            if (c == '\'') {
                quoted = !quoted;
                any = true;
            } else if (c == ' ' && !quoted) {
                if (any) {
                    words.add(word.toString());
                }
                word.setLength(0);
                any = false;
            } else {
                word.append(c);
                any = true;
            }
        }
        if (any) {
            words.add(word.toString());
        }
        words.replaceAll(text -> text.replace("{broker}", broker).replace("{data}", data));
        return words;
    }
}
