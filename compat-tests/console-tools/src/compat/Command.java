package compat;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.PrintStream;
import java.lang.reflect.Field;
import java.lang.reflect.InvocationTargetException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.kafka.common.utils.internals.Exit;

/** One run of a tool: its main method in a thread of its own, with input, output and exit of its own. */
final class Command {
    static final class Result {
        final String output;
        final int exit;

        Result(String output, int exit) {
            this.output = output;
            this.exit = exit;
        }
    }

    /** Unwinds a tool that wants to end the process. */
    private static final class Exited extends Error {
        Exited() {
            super(null, null, false, false);
        }
    }

    private static final class Group extends ThreadGroup {
        final ByteArrayOutputStream output = new ByteArrayOutputStream();
        final InputStream input;
        final List<Runnable> hooks = new ArrayList<>();
        volatile Integer exit;
        volatile boolean muted;

        Group(String input) {
            super("tool");
            this.input = new ByteArrayInputStream(input.getBytes(StandardCharsets.UTF_8));
        }

        @Override
        public void uncaughtException(Thread thread, Throwable error) {
            if (!(error instanceof Exited)) {
                error.printStackTrace(PROCESS_ERR);
            }
        }
    }

    private static final PrintStream PROCESS_OUT = System.out;
    private static final PrintStream PROCESS_ERR = System.err;
    private static final long PATIENCE_MS = 90_000;

    private final Group group;
    private final Thread thread;

    Command(String main, List<String> arguments, String input) {
        group = new Group(input);
        thread = new Thread(group, () -> call(main, arguments.toArray(new String[0])), main);
    }

    static PrintStream stdout() {
        return PROCESS_OUT;
    }

    /** From now on each thread's output and exit belong to the command that it works for. */
    static void takeOverTheProcess() {
        PrintStream divided = new PrintStream(new OutputStream() {
            @Override
            public void write(int b) {
                write(new byte[] {(byte) b}, 0, 1);
            }

            @Override
            public void write(byte[] bytes, int from, int length) {
                Group current = current();
                if (current == null) {
                    PROCESS_ERR.write(bytes, from, length);
                } else if (!current.muted) {
                    synchronized (current.output) {
                        current.output.write(bytes, from, length);
                    }
                }
            }
        }, true);
        System.setOut(divided);
        System.setErr(divided);
        System.setIn(new InputStream() {
            @Override
            public int read() throws java.io.IOException {
                Group current = current();
                return current == null ? -1 : current.input.read();
            }

            @Override
            public int read(byte[] into, int from, int length) throws java.io.IOException {
                Group current = current();
                return current == null ? -1 : current.input.read(into, from, length);
            }
        });
        Exit.setExitProcedure((status, message) -> leave(status, message));
        Exit.setHaltProcedure((status, message) -> leave(status, message));
        Exit.setShutdownHookAdder((name, hook) -> current().hooks.add(hook));
    }

    private static void leave(int status, String message) {
        Group current = current();
        if (current != null && current.exit == null) {
            if (message != null) {
                System.err.println(message);
            }
            // Some tools report the unwinding, too: what comes after the exit is not output.
            current.exit = status;
            current.muted = true;
        }
        throw new Exited();
    }

    private static Group current() {
        ThreadGroup group = Thread.currentThread().getThreadGroup();
        while (group != null && !(group instanceof Group)) {
            group = group.getParent();
        }
        return (Group) group;
    }

    private void call(String main, String[] arguments) {
        try {
            Class.forName(main).getMethod("main", String[].class).invoke(null, (Object) arguments);
        } catch (InvocationTargetException e) {
            if (!(e.getCause() instanceof Exited) && group.exit == null) {
                System.err.println(e.getCause());
                group.exit = 1;
            }
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
    }

    void start() {
        thread.start();
    }

    /** Some tools go past Kafka's Exit and ask the JVM itself; only reflection shows what they asked. */
    @SuppressWarnings("unchecked")
    private static List<Thread> processHooks() {
        try {
            Field hooks = Class.forName("java.lang.ApplicationShutdownHooks").getDeclaredField("hooks");
            hooks.setAccessible(true);
            return new ArrayList<>(((Map<Thread, Thread>) hooks.get(null)).keySet());
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Waits for the end and then does what the tool left for the end of the process; a tool that hangs gets the exit status 124. */
    Result finish() throws InterruptedException {
        thread.join(PATIENCE_MS);
        if (thread.isAlive()) {
            thread.interrupt();
            group.exit = 124;
        }
        group.muted = false;
        for (Thread hook : processHooks()) {
            if (hook.getThreadGroup() == group) {
                Runtime.getRuntime().removeShutdownHook(hook);
                group.hooks.add(hook);
            }
        }
        Thread end = new Thread(group, () -> group.hooks.forEach(Runnable::run));
        end.start();
        end.join(PATIENCE_MS);
        synchronized (group.output) {
            return new Result(group.output.toString(StandardCharsets.UTF_8), group.exit == null ? 0 : group.exit);
        }
    }
}
