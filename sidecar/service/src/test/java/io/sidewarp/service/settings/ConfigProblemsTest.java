// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.settings;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.sidewarp.service.testing.TestSidecar;
import io.sidewarp.settings.ConfigProblems;
import io.smallrye.config.ConfigValidationException;
import io.smallrye.config.PropertiesConfigSource;
import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ConfigProblemsTest {

    @TempDir
    private Path directory;

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "sidewarp.limits.regions | many | sidewarp.limits.regions is many: Expected an integer value, got \"many\"",
                "sidewarp.drain-timeout | 5 s | sidewarp.drain-timeout is 5 s: Invalid duration: 5 s",
                "sidewarp.extensions | yes | sidewarp.extensions is yes: allowed: true or false",
                "sidewarp.connection.security | tls | sidewarp.connection.security is tls; allowed: plain, preferred, required",
                "sidewarp.identity.source | foo, bar | sidewarp.identity.source is foo, bar; allowed: builtin, files, spiffe",
                "sidewarp.sctp.stack | tcp | sidewarp.sctp.stack is tcp; allowed: kernel, udp",
                "sidewarp.limits.regions | '' | sidewarp.limits.regions is empty: give it a value, or leave it out for the default",
                "sidewarp.connection.crc | ' ' | sidewarp.connection.crc is empty: give it a value, or leave it out for the default",
                "sidewarp.limits.region | 1 | sidewarp.limits.region is no setting of the sidecar (PropertiesConfigSource[source=test])",
                "sidewarp.sctp.rto-min | 1s | sidewarp.sctp.rto-min is no setting of the sidecar any more; its name is sidewarp.advanced.sctp.rto-min (PropertiesConfigSource[source=test])"
            })
    void aProblemIsToldWithoutWordsOfTheLibrary(String setting, String value, String told) {
        ConfigValidationException invalid = catchThrowableOfType(
                ConfigValidationException.class, () -> TestSidecar.config(directory, setting, value));

        assertThat(ConfigProblems.of(invalid)).isEqualTo(told);
    }

    @Test
    void aFileThatCannotBeReadIsTold() throws IOException {
        Path file = Files.writeString(directory.resolve("application.properties"), "sidewarp.provider=\\u12");

        IllegalArgumentException failure = catchThrowableOfType(
                IllegalArgumentException.class,
                () -> new PropertiesConfigSource(file.toUri().toURL()));

        assertThat(ConfigProblems.unreadable(failure))
                .hasValueSatisfying(told -> assertThat(told)
                        .startsWith("Malformed ")
                        .endsWith(" encoding; correct config/application.properties"));
        assertThat(ConfigProblems.unreadable(new IllegalArgumentException(
                        "SRCFG00033: Failed to load config", new AccessDeniedException(file.toString()))))
                .hasValue("Failed to load config (" + file
                        + ": permission denied); correct config/application.properties");
        assertThat(ConfigProblems.unreadable(new IllegalArgumentException("another one")))
                .isEmpty();
    }
}
