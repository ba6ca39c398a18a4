// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.agent.nic;

import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.Collection;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * Original values of the attributes that the agent has changed, in a file that outlives the agent. No change of the
 * agent survives a restart of the node's kernel. Values of an earlier boot are therefore dropped.
 *
 * <p>The file: {@code {"bootId": ..., "nics": {ADDRESS: {"id": VENDOR:DEVICE, "values": {ATTRIBUTE: NUMBER}}}}}. The
 * file is replaced as a whole, and so is never half written.
 */
public final class OriginalValues {

    static final String FILE_NAME = "nic-originals.json";

    private static final ObjectMapper JSON = new ObjectMapper();

    @JsonIgnoreProperties(ignoreUnknown = true)
    private record Stored(String bootId, SortedMap<PciAddress, Original> nics) {}

    @JsonIgnoreProperties(ignoreUnknown = true)
    private record Original(String id, SortedMap<String, Integer> values) {}

    private final Path file;
    private final String bootId;
    private final SortedMap<PciAddress, Original> originals = new TreeMap<>();

    private OriginalValues(Path file, String bootId) {
        this.file = file;
        this.bootId = bootId;
    }

    /**
     * Reads the file in a directory. Creates the directory if it does not exist.
     *
     * @param bootId id of the node's present boot
     * @throws IOException if the directory cannot be created, or the file cannot be read or parsed
     */
    public static OriginalValues open(Path directory, String bootId) throws IOException {
        Files.createDirectories(directory);
        OriginalValues opened = new OriginalValues(directory.resolve(FILE_NAME), bootId);
        if (Files.exists(opened.file)) {
            opened.load();
        }
        return opened;
    }

    private void load() throws IOException {
        try {
            JsonNode root = JSON.readTree(file.toFile());
            if (root.path("bootId").asText().equals(bootId)) {
                originals.putAll(JSON.treeToValue(root, Stored.class).nics());
            }
        } catch (JsonProcessingException e) {
            throw new IOException(
                    file + " cannot be parsed: " + e.getMessage()
                            + ". Delete it to give up restoring the original values of NICs.",
                    e);
        }
    }

    /** Returns the original values of a NIC. Returns none if another NIC is at its address now. */
    Map<NicAttribute, Integer> of(Nic nic) {
        Map<NicAttribute, Integer> values = new TreeMap<>();
        Original original = originals.get(nic.address());
        if (original != null && original.id.equals(id(nic))) {
            original.values.forEach(
                    (key, value) -> NicAttribute.ofKey(key).ifPresent(attribute -> values.put(attribute, value)));
        }
        return values;
    }

    /** Remembers a value unless one is remembered already. Returns after the file is written. */
    void remember(Nic nic, NicAttribute attribute, int value) throws IOException {
        Original original = originals.get(nic.address());
        if (original == null || !original.id.equals(id(nic))) {
            original = new Original(id(nic), new TreeMap<>());
            originals.put(nic.address(), original);
        }
        if (original.values.putIfAbsent(attribute.key(), value) == null) {
            try {
                store();
            } catch (IOException e) {
                original.values.remove(attribute.key());
                throw e;
            }
        }
    }

    /**
     * Forgets all values of a NIC but those of the given attributes. If the file cannot be written, nothing is
     * forgotten.
     */
    void retain(Nic nic, Collection<NicAttribute> attributes) throws IOException {
        Original original = originals.get(nic.address());
        if (original == null) {
            return;
        }
        SortedMap<String, Integer> kept = new TreeMap<>(original.values);
        kept.keySet().retainAll(attributes.stream().map(NicAttribute::key).toList());
        if (!kept.equals(original.values)) {
            if (kept.isEmpty()) {
                originals.remove(nic.address());
            } else {
                originals.put(nic.address(), new Original(original.id, kept));
            }
            try {
                store();
            } catch (IOException e) {
                // The file still contains these values; the next call forgets them.
                originals.put(nic.address(), original);
                throw e;
            }
        }
    }

    private static String id(Nic nic) {
        return nic.vendorId() + ":" + nic.deviceId();
    }

    private void store() throws IOException {
        Path next = file.resolveSibling(FILE_NAME + ".new");
        try (FileChannel channel = FileChannel.open(
                next, StandardOpenOption.CREATE, StandardOpenOption.TRUNCATE_EXISTING, StandardOpenOption.WRITE)) {
            ByteBuffer bytes = ByteBuffer.wrap(JSON.writeValueAsBytes(new Stored(bootId, originals)));
            while (bytes.hasRemaining()) {
                channel.write(bytes);
            }
            channel.force(true);
        }
        Files.move(next, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
    }
}
