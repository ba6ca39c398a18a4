// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.agent.dra;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.sidewarp.common.LogText;
import io.sidewarp.operator.agent.device.ContainerAccess;
import io.sidewarp.operator.api.v1alpha1.SidewarpApi;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.jboss.logging.Logger;

/**
 * Files of the Container Device Interface: one for each prepared claim, named by the claim's UID. A file tells the
 * container runtime the device nodes and the environment of the claim's requests. An annotation of the file has the
 * claim itself, so that the files are the only record of prepared claims. The directory is empty after a reboot, and so
 * is the record.
 *
 * <p>A container that uses several requests or claims gets the device nodes of all. The environment is that of the last
 * one, since the runtime cannot join variables. Within a claim, the request with the best kind of device is the last.
 */
final class CdiFiles {

    private static final Logger LOG = Logger.getLogger(CdiFiles.class);
    private static final ObjectMapper JSON = new ObjectMapper();

    /** Version of the format, the first with annotations. */
    private static final String VERSION = "0.6.0";

    private static final String PREFIX = "sidewarp.io-rnic-";
    private static final String SUFFIX = ".json";
    private static final String CLAIM = "sidewarp.io/claim";

    private final Path directory;
    private final Map<String, PreparedClaim> claims = new TreeMap<>();

    /** Reads the files of an earlier agent. A file that cannot be read is left to the next preparation of its claim. */
    CdiFiles(Path directory) {
        this.directory = directory;
        try (DirectoryStream<Path> files = Files.newDirectoryStream(directory, PREFIX + "*" + SUFFIX)) {
            files.forEach(this::restore);
        } catch (IOException e) {
            // The directory is made with the first file.
            LOG.debugf("event=no-cdi-directory path=%s", directory);
        }
    }

    private void restore(Path file) {
        try {
            JsonNode annotation =
                    JSON.readTree(Files.readAllBytes(file)).path("annotations").path(CLAIM);
            PreparedClaim claim = JSON.readValue(annotation.asText(), PreparedClaim.class);
            claims.put(claim.uid(), claim);
        } catch (IOException | RuntimeException e) {
            LOG.warnf(
                    "event=cdi-file-unreadable path=%s cause=%s action=\"remove the file unless a pod uses it\"",
                    file, LogText.quoted(e.getMessage()));
        }
    }

    /** Returns all prepared claims. */
    synchronized List<PreparedClaim> claims() {
        return List.copyOf(claims.values());
    }

    /** Returns a prepared claim whose file is still there. */
    synchronized Optional<PreparedClaim> find(String uid) {
        return Optional.ofNullable(claims.get(uid)).filter(claim -> Files.exists(file(uid)));
    }

    /**
     * Writes the file of a claim.
     *
     * @param access access to the devices of each request
     */
    synchronized void write(PreparedClaim claim, Map<String, ContainerAccess> access) throws IOException {
        Files.createDirectories(directory);
        Path file = file(claim.uid());
        // The runtime reads files with known suffixes only.
        Path next = file.resolveSibling(file.getFileName() + ".tmp");
        Files.write(next, JSON.writerWithDefaultPrettyPrinter().writeValueAsBytes(content(claim, access)));
        Files.move(next, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
        claims.put(claim.uid(), claim);
    }

    /** Removes the file of a claim, if there is one. */
    synchronized void remove(String uid) throws IOException {
        Files.deleteIfExists(file(uid));
        claims.remove(uid);
    }

    private Path file(String uid) {
        return directory.resolve(PREFIX + uid + SUFFIX);
    }

    private static ObjectNode content(PreparedClaim claim, Map<String, ContainerAccess> access)
            throws JsonProcessingException {
        ObjectNode content = JSON.createObjectNode();
        content.put("cdiVersion", VERSION);
        content.put("kind", SidewarpApi.RNIC_RESOURCE);
        content.putObject("annotations").put(CLAIM, JSON.writeValueAsString(claim));
        ArrayNode devices = content.putArray("devices");
        access.forEach((request, edits) -> {
            ObjectNode device = devices.addObject();
            device.put("name", claim.cdiName(request));
            ObjectNode container = device.putObject("containerEdits");
            ArrayNode environment = container.putArray("env");
            new TreeMap<>(edits.environment()).forEach((name, value) -> environment.add(name + "=" + value));
            if (!edits.deviceNodes().isEmpty()) {
                ArrayNode nodes = container.putArray("deviceNodes");
                edits.deviceNodes()
                        .forEach(node -> nodes.addObject()
                                .put("path", node)
                                .put("hostPath", node)
                                .put("permissions", ContainerAccess.PERMISSIONS));
            }
        });
        return content;
    }
}
