// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.e2e.support;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/** The packaged sidecar in the siw guest, with its command line. */
public final class GuestSidecar implements AutoCloseable {

    private static final String DIRECTORY = "/opt/sidecar";
    private static final String LOG = "/tmp/sidecar.log";

    /** Same value as in the images. */
    private static final String MODULES =
            "java.base,java.logging,java.management,java.naming,java.net.http,java.sql,java.xml,"
                    + "jdk.httpserver,jdk.jfr,jdk.management,jdk.net,jdk.unsupported,jdk.zipfs";

    private final SiwGuest guest;

    private GuestSidecar(SiwGuest guest) {
        this.guest = guest;
    }

    /**
     * Takes it into the guest and starts it.
     *
     * @param settings each as {@code sidewarp.name=value}
     */
    public static GuestSidecar start(SiwGuest guest, List<String> settings) {
        Path staged = Directories.temporary("guest-sidecar");
        try {
            JavaRuntimes.link(staged.resolve("java"), MODULES);
            Files.createSymbolicLink(
                    staged.resolve("service"), Programs.serviceJar().getParent());
            Path cli = Files.createDirectory(staged.resolve("cli"));
            Files.createSymbolicLink(cli.resolve("sidewarp-cli.jar"), Programs.cliJar());
            Files.createSymbolicLink(cli.resolve("lib"), Programs.cliJar().resolveSibling("lib"));
            guest.copy(staged, DIRECTORY);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } finally {
            Directories.delete(staged);
        }
        StringBuilder command = new StringBuilder(
                "mkdir -p /run/sidewarp/shared; " + java() + " -Xmx128m --add-opens=java.base/java.lang=ALL-UNNAMED");
        settings.forEach(setting -> command.append(" -D").append(setting));
        command.append(" -jar service/quarkus-run.jar >" + LOG + " 2>&1 & echo $! >sidecar.pid");
        guest.run(command.toString()).orThrow();
        GuestSidecar sidecar = new GuestSidecar(guest);
        try {
            Patience.await("the sidecar in the guest is ready, or has ended")
                    .atMost(Patience.LONG_LIMIT)
                    .until(() -> sidecar.log().contains("event=started") || !sidecar.isRunning());
        } catch (RuntimeException e) {
            sidecar.close();
            throw e;
        }
        return sidecar;
    }

    private static String java() {
        return "cd " + DIRECTORY + "; java/bin/java -XX:TieredStopAtLevel=1 " + String.join(" ", Programs.jvmFlags());
    }

    private boolean isRunning() {
        return guest.run("kill -0 $(cat " + DIRECTORY + "/sidecar.pid)").status() == 0;
    }

    /** Returns the log of the sidecar. */
    public String log() {
        return guest.run("cat " + LOG).text();
    }

    /** Runs a command of its command line. */
    public CompletableFuture<SiwGuest.Result> cli(String arguments) {
        return guest.start(java() + " -jar cli/sidewarp-cli.jar " + arguments);
    }

    @Override
    public void close() {
        guest.run("pid=$(cat " + DIRECTORY + "/sidecar.pid); kill $pid; for i in $(seq 100); do kill -0 $pid || break;"
                + " sleep 0.2; done; kill -KILL $pid; rm -rf " + DIRECTORY);
    }
}
