// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.agent.nic;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class OriginalValuesTest {

    private static final NicAttribute MTU = NicAttribute.mtu("ens1f0");

    @TempDir
    private Path directory;

    private static final Nic NIC = new Nic(
            new PciAddress("0000:18:00.0"),
            "8086",
            "1592",
            Optional.of("ice"),
            OptionalInt.empty(),
            List.of(),
            List.of(),
            Optional.empty(),
            Optional.empty(),
            Optional.empty(),
            List.of());

    @Test
    void keepsTheFirstValueInAFileOfADocumentedForm() throws IOException {
        OriginalValues originals = OriginalValues.open(directory.resolve("new"), "boot-1");
        originals.remember(NIC, MTU, 1500);
        originals.remember(NIC, MTU, 4000);
        originals.remember(NIC, NicAttribute.IWARP, 0);

        assertThat(directory.resolve("new/nic-originals.json"))
                .hasContent("{\"bootId\":\"boot-1\",\"nics\":{\"0000:18:00.0\":{\"id\":\"8086:1592\","
                        + "\"values\":{\"enableIwarp\":0,\"mtu/ens1f0\":1500}}}}");
        assertThat(OriginalValues.open(directory.resolve("new"), "boot-1").of(NIC))
                .isEqualTo(Map.of(MTU, 1500, NicAttribute.IWARP, 0));
        assertThat(OriginalValues.open(directory.resolve("new"), "boot-2").of(NIC))
                .isEmpty();
    }

    @Test
    void forgetsWhatIsNotNeededFurtherOn() throws IOException {
        OriginalValues originals = OriginalValues.open(directory, "boot-1");
        originals.remember(NIC, MTU, 1500);
        originals.remember(NIC, NicAttribute.IWARP, 0);

        originals.retain(NIC, List.of(NicAttribute.IWARP, NicAttribute.ROCE));

        assertThat(OriginalValues.open(directory, "boot-1").of(NIC)).isEqualTo(Map.of(NicAttribute.IWARP, 0));
        originals.retain(NIC, List.of());
        assertThat(OriginalValues.open(directory, "boot-1").of(NIC)).isEmpty();
    }

    /** Else the file would keep it, and the next agent would restore what nobody asks it to. */
    @Test
    void forgetsNothingThatTheFileStillHas() throws IOException {
        OriginalValues originals = OriginalValues.open(directory, "boot-1");
        originals.remember(NIC, MTU, 1500);
        Path inTheWay = Files.createDirectory(directory.resolve(OriginalValues.FILE_NAME + ".new"));

        assertThatThrownBy(() -> originals.retain(NIC, List.of())).isInstanceOf(IOException.class);
        assertThat(originals.of(NIC)).isEqualTo(Map.of(MTU, 1500));

        Files.delete(inTheWay);
        originals.retain(NIC, List.of());
        assertThat(OriginalValues.open(directory, "boot-1").of(NIC)).isEmpty();
    }

    @Test
    void refusesAFileThatItDoesNotUnderstand() throws IOException {
        Path file = directory.resolve(OriginalValues.FILE_NAME);
        for (String content : List.of("{\"bootId\":\"boot-1\", ", "{\"bootId\":\"boot-1\",\"nics\":{\"eth0\":{}}}")) {
            Files.writeString(file, content);

            assertThatThrownBy(() -> OriginalValues.open(directory, "boot-1"))
                    .isInstanceOf(IOException.class)
                    .hasMessageContainingAll(file.toString(), "Delete it");
        }
    }
}
