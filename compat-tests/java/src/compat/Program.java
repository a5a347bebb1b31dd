package compat;

/** One thing that an application does with Kafka. It throws when it saw something else than it should. */
interface Program {
    void run(Cluster cluster) throws Exception;
}
