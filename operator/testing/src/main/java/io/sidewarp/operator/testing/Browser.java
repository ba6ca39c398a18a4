// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.testing;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.ByteArrayInputStream;
import java.io.File;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.WebSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import javax.imageio.IIOImage;
import javax.imageio.ImageIO;
import javax.imageio.ImageWriteParam;
import javax.imageio.ImageWriter;
import javax.imageio.stream.ImageOutputStream;

/** Chromium without a display, which tests control by the DevTools protocol. Shows one page. */
public final class Browser implements AutoCloseable {

    private static final List<String> PROGRAMS = List.of("chromium-headless-shell", "chromium");
    private static final long SECONDS = 60;
    private static final Pattern LISTENING = Pattern.compile("DevTools listening on ws://([^/]+)/");

    private final ObjectMapper json = new ObjectMapper();
    private final HttpClient http = HttpClient.newHttpClient();
    private final Map<Integer, CompletableFuture<JsonNode>> answers = new ConcurrentHashMap<>();
    private final AtomicInteger ids = new AtomicInteger();
    private final List<String> problems = new CopyOnWriteArrayList<>();
    private final Process process;
    private final TestResource remains;
    private final WebSocket page;

    private Browser(Path program, Path profile) throws IOException, InterruptedException {
        process = new ProcessBuilder(
                        program.toString(),
                        "--headless",
                        // Root cannot use the sandbox, and the tests show their own pages only.
                        "--no-sandbox",
                        "--disable-gpu",
                        "--hide-scrollbars",
                        "--remote-debugging-port=0",
                        "--user-data-dir=" + profile,
                        "about:blank")
                .redirectErrorStream(true)
                .start();
        remains = TestResource.of(process);
        page = connect(address());
        command("Runtime.enable", Map.of());
        command("Log.enable", Map.of());
        command("Page.enable", Map.of());
    }

    /** Returns the program, if this machine has it. */
    public static Optional<Path> program() {
        return PROGRAMS.stream()
                .flatMap(name -> Stream.of(System.getenv("PATH").split(File.pathSeparator))
                        .map(directory -> Path.of(directory, name)))
                .filter(Files::isExecutable)
                .findFirst();
    }

    /**
     * Shows a page.
     *
     * @param profile directory for the browser's files, which the caller removes
     */
    public static Browser open(Path program, Path profile, URI address) throws IOException, InterruptedException {
        Browser browser = new Browser(program, profile);
        browser.command("Page.navigate", Map.of("url", address.toString()));
        return browser;
    }

    /** Returns the value of a JavaScript expression in the page, as text. */
    public String evaluate(String expression) {
        JsonNode result = command(
                "Runtime.evaluate", Map.of("expression", expression, "returnByValue", true, "awaitPromise", true));
        if (result.has("exceptionDetails")) {
            throw new IllegalStateException(result.get("exceptionDetails").toString());
        }
        return result.at("/result/value").asText();
    }

    /** Sets the size of the window in CSS pixels, and the colour scheme that the reader prefers. */
    public void appearance(int width, int height, boolean dark) {
        command(
                "Emulation.setDeviceMetricsOverride",
                Map.of("width", width, "height", height, "deviceScaleFactor", 1, "mobile", false));
        command(
                "Emulation.setEmulatedMedia",
                Map.of("features", List.of(Map.of("name", "prefers-color-scheme", "value", dark ? "dark" : "light"))));
    }

    /** Writes what the window shows into a PNG file, which is smaller than the browser's. */
    public void screenshot(Path file) throws IOException {
        JsonNode answer = command("Page.captureScreenshot", Map.of("format", "png"));
        byte[] png = Base64.getDecoder().decode(answer.get("data").asText());
        IIOImage picture = new IIOImage(ImageIO.read(new ByteArrayInputStream(png)), null, null);
        ImageWriter writer = ImageIO.getImageWritersByFormatName("png").next();
        ImageWriteParam parameters = writer.getDefaultWriteParam();
        parameters.setCompressionMode(ImageWriteParam.MODE_EXPLICIT);
        parameters.setCompressionQuality(0);
        Files.createDirectories(file.toAbsolutePath().getParent());
        Files.deleteIfExists(file);
        try (ImageOutputStream output = ImageIO.createImageOutputStream(file.toFile())) {
            writer.setOutput(output);
            writer.write(null, picture, parameters);
        } finally {
            writer.dispose();
        }
    }

    /** Returns the errors and violations of policies that the page has caused so far. */
    public List<String> problems() {
        return List.copyOf(problems);
    }

    private String address() throws IOException {
        BufferedReader output = process.inputReader(StandardCharsets.UTF_8);
        StringBuilder seen = new StringBuilder();
        for (String line = output.readLine(); line != null; line = output.readLine()) {
            Matcher listening = LISTENING.matcher(line);
            if (listening.find()) {
                Thread.ofPlatform()
                        .daemon()
                        .name("browser")
                        .start(() -> output.lines().forEach(ignored -> {}));
                return listening.group(1);
            }
            seen.append(line).append('\n');
        }
        throw new IOException("the browser ended: " + seen);
    }

    private WebSocket connect(String address) throws IOException, InterruptedException {
        HttpRequest request = HttpRequest.newBuilder(URI.create("http://" + address + "/json/list"))
                .timeout(Duration.ofSeconds(SECONDS))
                .build();
        JsonNode targets = json.readTree(
                http.send(request, HttpResponse.BodyHandlers.ofString()).body());
        for (JsonNode target : targets) {
            if (target.get("type").asText().equals("page")) {
                return http.newWebSocketBuilder()
                        .buildAsync(
                                URI.create(target.get("webSocketDebuggerUrl").asText()), new Messages())
                        .orTimeout(SECONDS, TimeUnit.SECONDS)
                        .join();
            }
        }
        throw new IOException("the browser has no page: " + targets);
    }

    private JsonNode command(String method, Map<String, ?> parameters) {
        int id = ids.incrementAndGet();
        CompletableFuture<JsonNode> answer = new CompletableFuture<>();
        answers.put(id, answer);
        page.sendText(
                json.valueToTree(Map.of("id", id, "method", method, "params", parameters))
                        .toString(),
                true);
        return answer.orTimeout(SECONDS, TimeUnit.SECONDS).join();
    }

    private void handle(String text) {
        try {
            JsonNode message = json.readTree(text);
            CompletableFuture<JsonNode> answer =
                    message.has("id") ? answers.remove(message.get("id").asInt()) : null;
            if (answer != null && message.has("error")) {
                answer.completeExceptionally(
                        new IllegalStateException(message.get("error").toString()));
            } else if (answer != null) {
                answer.complete(message.get("result"));
            } else if (isProblem(message)) {
                problems.add(message.get("params").toString());
            }
        } catch (IOException e) {
            problems.add(e.toString());
        }
    }

    private static boolean isProblem(JsonNode message) {
        return switch (message.path("method").asText()) {
            case "Runtime.exceptionThrown" -> true;
            case "Log.entryAdded" -> message.at("/params/entry/level").asText().equals("error");
            default -> false;
        };
    }

    /** Joins the parts of messages. */
    private final class Messages implements WebSocket.Listener {
        private final StringBuilder text = new StringBuilder();

        @Override
        public CompletionStage<?> onText(WebSocket socket, CharSequence part, boolean last) {
            text.append(part);
            if (last) {
                handle(text.toString());
                text.setLength(0);
            }
            socket.request(1);
            return CompletableFuture.completedFuture(null);
        }
    }

    @Override
    public void close() {
        page.abort();
        http.shutdownNow();
        remains.close();
    }
}
