// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.conformance;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Requirements in the order of their list, delegated requirements, and planned specifications. Others answer for
 * delegated requirements; planned ones are not implemented yet.
 */
final class Requirements {
    private static final String LIST = "docs/conformance.tsv";
    private static final String DELEGATED = "docs/conformance-delegated.tsv";
    private static final String PLANNED = "docs/conformance-planned.tsv";

    private final Map<String, Entry> entries = new LinkedHashMap<>();
    private final Map<String, String> delegates = new LinkedHashMap<>();
    private final Set<String> planned = new HashSet<>();

    /** A requirement of the list; {@code level} is MUST, SHOULD and so on. */
    record Entry(String id, String level) {
        /** Returns the prefix of the id: the specification's short name. */
        String family() {
            return id.substring(0, id.indexOf('-'));
        }
    }

    /** Reads the lists of the repository at {@code root}. */
    static Requirements read(Path root) throws IOException {
        Requirements requirements = new Requirements();
        for (String[] fields : rows(root.resolve(LIST), 5)) {
            Entry entry = new Entry(fields[0], fields[1]);
            if (entry.id.indexOf('-') < 1 || requirements.entries.put(entry.id, entry) != null) {
                throw new IOException(LIST + " has an id that is malformed or there twice: " + entry.id);
            }
        }
        for (String[] fields : rows(root.resolve(DELEGATED), 2)) {
            if (!requirements.has(fields[0])) {
                throw new IOException(DELEGATED + " has an id that " + LIST + " does not have: " + fields[0]);
            }
            requirements.delegates.put(fields[0], fields[1]);
        }
        for (String[] fields : rows(root.resolve(PLANNED), 2)) {
            requirements.planned.add(fields[0]);
        }
        return requirements;
    }

    Collection<Entry> entries() {
        return Collections.unmodifiableCollection(entries.values());
    }

    boolean has(String id) {
        return entries.containsKey(id);
    }

    /** Returns whether the requirement, or its whole specification, is not implemented yet. */
    boolean isPlanned(Entry entry) {
        return planned.contains(entry.family()) || planned.contains(entry.id());
    }

    boolean isDelegated(String id) {
        return delegates.containsKey(id);
    }

    /** Returns who answers for a delegated requirement. */
    String delegate(String id) {
        return delegates.getOrDefault(id, "");
    }

    private static List<String[]> rows(Path file, int columns) throws IOException {
        List<String[]> rows = new ArrayList<>();
        List<String> lines = Files.readAllLines(file);
        for (int i = 1; i < lines.size(); i++) {
            String[] fields = lines.get(i).split("\t", -1);
            if (fields.length != columns) {
                throw new IOException(
                        file + ":" + (i + 1) + ": " + columns + " columns expected, not " + fields.length);
            }
            rows.add(fields);
        }
        return rows;
    }
}
