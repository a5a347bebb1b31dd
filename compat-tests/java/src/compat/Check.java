package compat;

import java.util.Objects;
import java.util.function.BooleanSupplier;

/** What a program expects, said so that a failure explains itself. */
final class Check {
    private Check() {}

    static void that(boolean holds, String what) {
        if (!holds) {
            throw new AssertionError(what);
        }
    }

    static void same(Object expected, Object seen, String what) {
        if (!Objects.equals(expected, seen)) {
            throw new AssertionError(what + ": expected " + expected + ", saw " + seen);
        }
    }

    /** Tries again (each try is expected to wait a little by itself, as a poll does) for half a minute. */
    static void soon(String what, BooleanSupplier tryOnce) {
        long end = System.nanoTime() + 30_000_000_000L;
        while (!tryOnce.getAsBoolean()) {
            that(System.nanoTime() < end, "not within 30 s: " + what);
        }
    }
}
