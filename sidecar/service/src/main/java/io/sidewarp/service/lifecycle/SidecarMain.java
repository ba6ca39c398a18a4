// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.lifecycle;

import io.quarkus.runtime.Quarkus;
import io.quarkus.runtime.annotations.QuarkusMain;
import io.sidewarp.common.GracefulEnd;
import io.sidewarp.settings.ConfigProblems;
import io.smallrye.config.ConfigValidationException;
import java.nio.file.InvalidPathException;
import java.security.Security;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Runs the sidecar until it is told to stop. If it cannot start, prints the reason. */
@QuarkusMain
public final class SidecarMain {

    /** Exit code if the settings, or objects that they name, do not permit a start; EX_CONFIG in sysexits.h. */
    private static final int CONFIGURATION = 78;

    private SidecarMain() {}

    public static void main(String... arguments) {
        GracefulEnd.onTermination();
        forgetNamesSoon();
        Quarkus.run(null, SidecarMain::end, arguments);
    }

    /**
     * Shortens the cache of name look-ups. A restarted pod has another address, and Java would keep the old one for
     * half a minute. CoreDNS uses 5 s.
     */
    static void forgetNamesSoon() {
        Security.setProperty("networkaddress.cache.ttl", "5");
        Security.setProperty("networkaddress.cache.negative.ttl", "1");
    }

    private static void end(int code, @Nullable Throwable failure) {
        if (failure == null) {
            System.exit(code);
        } else {
            System.exit(refusal(failure).map(SidecarMain::explain).orElseGet(() -> trace(failure, code)));
        }
    }

    /** Prints one line without a stack trace, because the reader has to change settings and not the program. */
    private static int explain(String refusal) {
        System.err.println("sidewarp: the sidecar does not start: " + refusal);
        return CONFIGURATION;
    }

    private static int trace(Throwable failure, int code) {
        failure.printStackTrace();
        return code;
    }

    private static Optional<String> refusal(Throwable failure) {
        for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
            if (cause instanceof StartFailedException refused) {
                return Optional.of(String.valueOf(refused.getMessage()));
            }
            if (cause instanceof ConfigValidationException invalid) {
                return Optional.of("invalid configuration: " + ConfigProblems.of(invalid));
            }
            if (cause instanceof InvalidPathException path) {
                return Optional.of(
                        "invalid configuration: not the path of a file in this locale: " + path.getMessage());
            }
            Optional<String> unreadable = ConfigProblems.unreadable(cause);
            if (unreadable.isPresent()) {
                return unreadable.map(problem -> "the configuration cannot be read: " + problem);
            }
        }
        return Optional.empty();
    }
}
