// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.common;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import java.io.IOException;
import java.net.ConnectException;
import java.net.UnknownHostException;
import java.nio.channels.UnresolvedAddressException;
import java.nio.charset.StandardCharsets;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class FailureTextTest {

    @TempDir
    private Path directory;

    @Test
    void aFileSystemFailureIsToldInWords() throws IOException {
        Path file = Files.writeString(directory.resolve("file"), "text");

        assertThat(thrownBy(() -> Files.readString(directory.resolve("none"))))
                .isEqualTo(directory.resolve("none") + ": no such file or directory");
        assertThat(thrownBy(() -> Files.createDirectory(file))).isEqualTo(file + ": a file of this name exists");
        assertThat(thrownBy(() -> Files.delete(directory))).isEqualTo(directory + ": the directory is not empty");
        assertThat(thrownBy(() -> Files.createFile(file.resolve("below")))).endsWith("/file/below: Not a directory");
        assertThat(FailureText.reason(new AccessDeniedException("/x"))).isEqualTo("permission denied");
    }

    @Test
    void bytesThatAreNotTextAreNamed() throws IOException {
        Path file = Files.write(directory.resolve("file"), new byte[] {(byte) 0xff});

        assertThat(thrownBy(() -> Files.readString(file, StandardCharsets.UTF_8)))
                .isEqualTo("it has bytes that are not text");
    }

    @Test
    void aFailedConnectionIsToldByItsCause() {
        IOException unresolved = new ConnectException(null);
        unresolved.initCause(new UnresolvedAddressException());

        assertThat(FailureText.reason(unresolved)).isEqualTo("no address is known for the host");
        assertThat(FailureText.reason(new UnknownHostException("db"))).isEqualTo("no address is known for db");
        assertThat(FailureText.reason(new ConnectException("Connection refused")))
                .isEqualTo("Connection refused");
        assertThat(FailureText.reason(new IOException())).isEqualTo("no reason was given");
    }

    private static String thrownBy(ThrowingCallable call) {
        return FailureText.withFile(catchThrowableOfType(IOException.class, call));
    }
}
