// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.common.status;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The HTML of the status page, and the rule which requests get it. The page reads its data, a {@link StatusDocument},
 * from {@link #DATA_PATH} and needs nothing else.
 */
public final class StatusPage {
    public static final String PATH = "/status";
    public static final String DATA_PATH = "/status.json";

    public static final String HTML_TYPE = "text/html; charset=UTF-8";
    public static final String JSON_TYPE = "application/json; charset=UTF-8";

    /** Names by which a browser on the same host calls the page. A page of another name has been rebound by DNS. */
    private static final Pattern LOCAL_HOST =
            Pattern.compile("(localhost|127\\.0\\.0\\.1|\\[::1])(:\\d{1,5})?", Pattern.CASE_INSENSITIVE);

    private static final byte[] HTML = load();

    /** Headers of the page and of its data. */
    public static final Map<String, String> HEADERS = Map.of(
            "Content-Security-Policy",
            "default-src 'none'; script-src " + hash("script") + "; style-src " + hash("style")
                    + "; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
            "X-Content-Type-Options",
            "nosniff",
            "Cross-Origin-Resource-Policy",
            "same-origin",
            "Cache-Control",
            "no-store");

    private StatusPage() {}

    /** Returns the HTML. */
    public static byte[] html() {
        return HTML.clone();
    }

    /**
     * Returns whether a request may see the page: it comes from this host and asks for a name of this host.
     *
     * <p>Of 127.0.0.0/8 only 127.0.0.1 counts. Proxies of service meshes use other addresses of this network for
     * requests that come from outside.
     *
     * @param remote address of the client, or null if it is unknown
     * @param hosts values of the request's Host headers
     */
    public static boolean isLocal(@Nullable InetAddress remote, List<String> hosts) {
        if (remote == null || hosts.size() != 1) {
            return false;
        }
        String address = remote.getHostAddress();
        boolean loopback = remote.isLoopbackAddress() && (address.equals("127.0.0.1") || !address.startsWith("127."));
        return loopback && LOCAL_HOST.matcher(hosts.getFirst()).matches();
    }

    private static byte[] load() {
        try (InputStream file = StatusPage.class.getResourceAsStream("status.html")) {
            return Objects.requireNonNull(file, "status.html").readAllBytes();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Returns the source expression that permits the one inline element of a name. */
    private static String hash(String element) {
        String page = new String(HTML, StandardCharsets.UTF_8);
        String begin = "<" + element + ">";
        int from = page.indexOf(begin) + begin.length();
        String content = page.substring(from, page.indexOf("</" + element + ">", from));
        try {
            byte[] digest = MessageDigest.getInstance("SHA-256").digest(content.getBytes(StandardCharsets.UTF_8));
            return "'sha256-" + Base64.getEncoder().encodeToString(digest) + "'";
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException(e);
        }
    }
}
