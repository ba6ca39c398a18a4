// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.conformance;

import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;

/** Formats the report as Markdown. The same requirements and results give the same text. */
final class ReportText {
    /** Specifications by the prefix of the ids of their requirements. */
    private static final Map<String, String> SPECIFICATIONS = Map.of(
            "RDMAP", "RFC 5040",
            "DDP", "RFC 5041",
            "SCTP", "RFC 5043",
            "MPA", "RFC 5044",
            "EMPA", "RFC 6581",
            "UDP", "RFC 6951",
            "EXT", "RFC 7306");

    private final Requirements requirements;
    private final Map<String, SortedSet<String>> proofs = new TreeMap<>();

    private enum Status {
        PROVED,
        DELEGATED,
        OPEN;

        String text() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    ReportText(Requirements requirements, List<Results.Row> rows) {
        this.requirements = requirements;
        for (Results.Row row : rows) {
            if (row.outcome() == Outcome.PASSED) {
                proofs.computeIfAbsent(row.id(), id -> new TreeSet<>()).add(simpleName(row.test()));
            }
        }
    }

    String text() {
        Map<String, List<Requirements.Entry>> families = new LinkedHashMap<>();
        for (Requirements.Entry entry : requirements.entries()) {
            families.computeIfAbsent(entry.family(), family -> new ArrayList<>())
                    .add(entry);
        }
        StringBuilder text = new StringBuilder();
        text.append("# Conformance\n\n")
                .append(
                        "Which requirements of the RFCs the tests prove. The build writes this page (`./sidewarp test`) from\n")
                .append(
                        "[conformance.tsv](conformance.tsv), which says what each id stands for, and from the tests that carry\n")
                .append("the ids; do not edit it.\n\n")
                .append("- proved: at least one test carries the id, and it passed.\n")
                .append("- delegated: something outside of Sidewarp answers for it, as")
                .append(" [conformance-delegated.tsv](conformance-delegated.tsv) says.\n")
                .append(
                        "- open: neither, because a specification of [conformance-planned.tsv](conformance-planned.tsv) is still to")
                .append(" come, or because the machine that wrote this page skips the test.\n\n")
                .append("| Specification | Requirements | Proved | Delegated | Open | Open and MUST (NOT) |\n")
                .append("|---|--:|--:|--:|--:|--:|\n");
        families.forEach((family, entries) -> appendCounts(text, title(family), entries));
        appendCounts(text, "All", requirements.entries());
        families.forEach((family, entries) -> {
            text.append("\n## ")
                    .append(title(family))
                    .append("\n\n| Id | Level | Status | Tests |\n|---|---|---|---|\n");
            entries.forEach(entry -> appendRow(text, entry));
        });
        return text.toString();
    }

    private void appendCounts(StringBuilder text, String title, Collection<Requirements.Entry> entries) {
        text.append("| ").append(title).append(" | ").append(entries.size());
        for (Status status : Status.values()) {
            long count = entries.stream().filter(e -> status(e.id()) == status).count();
            text.append(" | ").append(count);
        }
        long open = entries.stream()
                .filter(e -> status(e.id()) == Status.OPEN && e.level().startsWith("MUST"))
                .count();
        text.append(" | ").append(open).append(" |\n");
    }

    private void appendRow(StringBuilder text, Requirements.Entry entry) {
        Status status = status(entry.id());
        String by = switch (status) {
            case PROVED -> "`" + String.join("`<br>`", proofs.getOrDefault(entry.id(), new TreeSet<>())) + "`";
            case DELEGATED -> "to " + requirements.delegate(entry.id());
            case OPEN -> "";
        };
        text.append("| ").append(entry.id());
        text.append(" | ").append(entry.level());
        text.append(" | ").append(status.text());
        text.append(" | ").append(by).append(by.isEmpty() ? "|\n" : " |\n");
    }

    private Status status(String id) {
        if (proofs.containsKey(id)) {
            return Status.PROVED;
        }
        return requirements.isDelegated(id) ? Status.DELEGATED : Status.OPEN;
    }

    private static String title(String family) {
        return SPECIFICATIONS.containsKey(family) ? SPECIFICATIONS.get(family) + " (" + family + ")" : family;
    }

    /** Returns {@code Class#method} for {@code package.Class#method}. */
    private static String simpleName(String test) {
        return test.substring(test.lastIndexOf('.', test.indexOf('#')) + 1);
    }
}
