// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.verbs;

import java.util.List;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Pattern of the SPIFFE IDs of peers, as in {@code spiffe://example.org/ns/shop/sa/*}. In a segment of the path,
 * {@code *} stands for any characters, also for none. {@code **} as the last segment stands for one or more segments.
 * The short form {@code ns/shop/sa/cart} has the trust domain of this side.
 */
public final class PeerPattern {

    /** Maximum number of patterns in one list. The list is searched on an event loop. */
    public static final int MAX_PATTERNS = 256;

    private static final String SCHEME = "spiffe://";
    private static final String SHORT = "ns/";
    private static final String REST = "**";
    private static final int MAX_LENGTH = 2048;
    private static final Pattern TRUST_DOMAIN = Pattern.compile("[a-z0-9._-]{1,255}");
    private static final Pattern SEGMENT = Pattern.compile("[A-Za-z0-9._*-]+");
    private static final Pattern OF_NAMESPACE = Pattern.compile("/ns/[^/]+/.+");

    private final String text;
    /** Trust domain of the peers; null: that of this side. */
    private final @Nullable String trustDomain;

    private final List<String> segments;
    /** Whether more segments follow in the path. */
    private final boolean open;

    private PeerPattern(String text, @Nullable String trustDomain, List<String> segments, boolean open) {
        this.text = text;
        this.trustDomain = trustDomain;
        this.segments = segments;
        this.open = open;
    }

    /** @throws IllegalArgumentException if the text is not a pattern; the message says what is wrong */
    public static PeerPattern parse(String text) {
        boolean full = text.startsWith(SCHEME);
        if (text.length() > MAX_LENGTH || !full && !text.startsWith(SHORT)) {
            throw invalid(
                    text, "a pattern begins with " + SCHEME + " or " + SHORT + " and has at most 2048 characters");
        }
        List<String> parts = List.of((full ? text.substring(SCHEME.length()) : text).split("/", -1));
        String trustDomain = full ? parts.getFirst() : null;
        if (trustDomain != null && !TRUST_DOMAIN.matcher(trustDomain).matches()) {
            throw invalid(text, "a trust domain has small letters, digits, dots, hyphens and underscores only");
        }
        List<String> path = full ? parts.subList(1, parts.size()) : parts;
        boolean open = !path.isEmpty() && path.getLast().equals(REST);
        List<String> segments = List.copyOf(open ? path.subList(0, path.size() - 1) : path);
        for (String segment : segments) {
            if (segment.contains(REST)) {
                throw invalid(text, "** can only be the whole last segment");
            }
            if (!SEGMENT.matcher(segment).matches() || segment.equals(".") || segment.equals("..")) {
                throw invalid(
                        text,
                        "a segment of the path has letters, digits, dots, hyphens, underscores and * only, and is not"
                                + " empty, . or ..");
            }
        }
        return new PeerPattern(text, trustDomain, segments, open);
    }

    private static IllegalArgumentException invalid(String text, String problem) {
        return new IllegalArgumentException("the pattern of peers `" + text + "` is not valid: " + problem
                + "; examples are spiffe://example.org/ns/shop/sa/cart, ns/shop/sa/* and ns/shop/**");
    }

    /**
     * Returns the pattern of the peers in the namespace of a workload. If the ID of the workload names no namespace,
     * returns the pattern of the peers in its trust domain.
     */
    public static PeerPattern neighbours(SpiffeId own) {
        String namespace = OF_NAMESPACE.matcher(own.path()).matches()
                ? own.path().substring(0, own.path().indexOf('/', "/ns/".length()))
                : "";
        return parse(SCHEME + own.trustDomain() + namespace + "/" + REST);
    }

    /**
     * Returns whether an ID has this pattern.
     *
     * @param ownTrustDomain trust domain of this side, for the short form
     */
    public boolean matches(SpiffeId id, String ownTrustDomain) {
        if (!id.trustDomain().equals(trustDomain == null ? ownTrustDomain : trustDomain)) {
            return false;
        }
        List<String> path =
                id.path().isEmpty() ? List.of() : List.of(id.path().substring(1).split("/", -1));
        if (open ? path.size() <= segments.size() : path.size() != segments.size()) {
            return false;
        }
        for (int i = 0; i < segments.size(); i++) {
            if (!matches(segments.get(i), path.get(i))) {
                return false;
            }
        }
        return true;
    }

    /** Compares one segment. The time is bounded by the product of the lengths, for each pattern. */
    private static boolean matches(String pattern, String segment) {
        int at = 0;
        int star = -1;
        int resume = 0;
        int i = 0;
        while (i < segment.length()) {
            if (at < pattern.length() && pattern.charAt(at) == '*') {
                star = at++;
                resume = i;
            } else if (at < pattern.length() && pattern.charAt(at) == segment.charAt(i)) {
                at++;
                i++;
            } else if (star >= 0) {
                at = star + 1;
                i = ++resume;
            } else {
                return false;
            }
        }
        while (at < pattern.length() && pattern.charAt(at) == '*') {
            at++;
        }
        return at == pattern.length();
    }

    @Override
    public String toString() {
        return text;
    }
}
