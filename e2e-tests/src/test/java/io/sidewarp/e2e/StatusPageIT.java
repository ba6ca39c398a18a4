// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.sidewarp.client.Access;
import io.sidewarp.client.ManagedRegion;
import io.sidewarp.client.Session;
import io.sidewarp.client.SidewarpClient;
import io.sidewarp.client.SidewarpException;
import io.sidewarp.e2e.support.CliProcess;
import io.sidewarp.e2e.support.Directories;
import io.sidewarp.e2e.support.Link;
import io.sidewarp.e2e.support.Logs;
import io.sidewarp.e2e.support.OwnedProcess;
import io.sidewarp.e2e.support.Patience;
import io.sidewarp.e2e.support.Programs;
import io.sidewarp.e2e.support.SidecarProcess;
import io.sidewarp.operator.testing.Browser;
import java.net.URI;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * Tests the status page of a packaged sidecar in Chromium. With {@code -Dsidewarp.screenshots=DIRECTORY}, transfers data
 * for a minute and writes the picture of the documentation.
 */
@ExtendWith(Logs.class)
class StatusPageIT {

    private static final String SCRIPT = "<script>document.title='stolen'</script>";
    private static final int WIDTH = 1280;
    private static final int PHONE = 390;

    private Path profile;
    private SidecarProcess left;
    private SidecarProcess right;
    private Browser browser;

    @BeforeEach
    void start() throws Exception {
        Optional<Path> program = Browser.program();
        assumeTrue(program.isPresent(), "Chromium is missing; Debian has it in chromium-headless-shell");
        profile = Directories.temporary("browser");
        left = SidecarProcess.start("left");
        right = SidecarProcess.start("right");
        browser = Browser.open(program.get(), profile, left.management().resolve("/status"));
    }

    @AfterEach
    void stop() {
        for (AutoCloseable part : new AutoCloseable[] {browser, left, right}) {
            if (part != null) {
                try {
                    part.close();
                } catch (Exception e) {
                    throw new IllegalStateException(e);
                }
            }
        }
        if (profile != null) {
            Directories.delete(profile);
        }
    }

    @Test
    void pageShowsConnectionsWithTheirRates() throws Exception {
        String screenshots = System.getProperty("sidewarp.screenshots", "");
        Path pictures =
                screenshots.isEmpty() ? Programs.output() : Programs.root().resolve(screenshots);
        String time = screenshots.isEmpty() ? "15s" : "60s";
        try (OwnedProcess server = CliProcess.start(right, "perf", "--listen", "127.0.0.1:0");
                SidewarpClient client = left.client();
                Session session = client.openSession("checkpoints")) {
            String address = CliProcess.awaitAddress(server);
            ManagedRegion target = session.registerManaged(4096, Access.LOCAL_WRITE);
            ManagedRegion source = session.registerManaged(4096, Access.REMOTE_WRITE);
            Link refused = Link.connect(session, session);
            assertThatThrownBy(() -> refused.initiator().read(target.slice(), source.address()))
                    .isInstanceOf(SidewarpException.class);
            Link waiting = Link.connect(session, session);
            CompletableFuture<Void> blocked = CompletableFuture.runAsync(
                    () -> waiting.responder().read(target.slice(), source.address()), Thread::startVirtualThread);
            try (OwnedProcess write =
                            CliProcess.start(left, "perf", "write", address, "--size", "64K", "--time", time);
                    OwnedProcess read =
                            CliProcess.start(left, "perf", "read", address, "--size", "4K", "--time", time)) {
                await("document.querySelectorAll('svg .graph').length >= 2");
                await("[...document.querySelectorAll('.rate strong')].some(rate => rate.textContent.includes('iB/s'))");
                if (!screenshots.isEmpty()) {
                    await("document.querySelector('svg .graph').getAttribute('d').split('L').length > 40");
                }
                picture(pictures.resolve("status-sidecar.png"), WIDTH, 1000, false);
                picture(Programs.output().resolve("status-sidecar-dark.png"), WIDTH, 1000, true);
                picture(Programs.output().resolve("status-sidecar-phone.png"), PHONE, 844, false);
            }
            assertThat(blocked).isNotDone();
            assertThat(text())
                    .contains("Access rights violation", "then connect again", "waiting for peer", "posted work waits");
            assertThat(text().toLowerCase(Locale.ROOT))
                    .doesNotContain("stag 0x")
                    .doesNotContain("%08x".formatted(source.address().stag()));
            assertThat(browser.problems()).isEmpty();
            waiting.responder().abort();
        }
    }

    @Test
    void namesOfSessionsAreTextsAndNoMarkup() {
        try (SidewarpClient client = left.client();
                Session session = client.openSession(SCRIPT)) {
            assertThatThrownBy(() -> session.connect(Link.LOOPBACK, 1)).isInstanceOf(SidewarpException.class);

            await("document.querySelector('#tables').textContent.includes('document.title')");
            await("document.querySelector('#tables').textContent.includes('call Connect')");
            await("document.title === 'Sidewarp sidecar'");
            assertThat(text()).contains(SCRIPT, "call Connect", "UNAVAILABLE", "Try again after a pause.");
            assertThat(browser.evaluate("document.querySelectorAll('script').length"))
                    .isEqualTo("1");
            assertThat(browser.problems()).isEmpty();
        }
    }

    @Test
    void tablesHaveHeadersAndThePageFitsAPhone() {
        try (SidewarpClient client = left.client();
                Session session = client.openSession("tables")) {
            Link.connect(session, session);
            await("document.querySelectorAll('table').length >= 2");
            for (String rule : List.of(
                    "document.documentElement.lang === 'en'",
                    "[...document.querySelectorAll('thead th')].every(cell => cell.scope === 'col')",
                    "[...document.querySelectorAll('tbody tr')].every(row => row.cells[0].scope === 'row')",
                    "[...document.querySelectorAll('.state')].every(state => state.textContent.trim().length > 2)",
                    "document.querySelectorAll('h1').length === 1",
                    "[...document.querySelectorAll('section')].every(part => part.querySelector('h2'))")) {
                assertThat(browser.evaluate(rule)).as(rule).isEqualTo("true");
            }
            for (int width : new int[] {PHONE, 800, 1250, WIDTH}) {
                browser.appearance(width, 844, false);
                assertThat(browser.evaluate("document.documentElement.scrollWidth <= " + width))
                        .as("the page at %d pixels", width)
                        .isEqualTo("true");
            }
        }
    }

    @Test
    void pageSaysWhenTheSidecarHasGoneAndStopsOnPause() {
        await("document.getElementById('live').textContent === 'Live'");
        browser.evaluate("document.getElementById('pause').click()");
        await("document.getElementById('live').textContent === 'Paused'");
        browser.evaluate("document.getElementById('pause').click()");
        await("document.getElementById('live').textContent === 'Live'");

        left.stop();

        await("document.getElementById('live').textContent.startsWith('No answer')");
    }

    @Test
    void reboundNameGetsNoPage() throws Exception {
        URI management = left.management();
        String page = "fetch('/status').then(answer => answer.status)";
        await("document.title === 'Sidewarp sidecar'");
        assertThat(browser.evaluate(page)).isEqualTo("200");

        // Names below localhost are of this host for browsers, as rebound names are.
        try (Browser rebound = Browser.open(
                Browser.program().orElseThrow(),
                profile.resolve("rebound"),
                URI.create("http://rebound.localhost:" + management.getPort() + "/status"))) {
            Patience.await("the answer")
                    .until(() -> rebound.evaluate("document.body.textContent").contains("try /q/health/live"));
            assertThat(rebound.evaluate(page)).isEqualTo("404");
        }
    }

    private void await(String condition) {
        Patience.await(condition)
                // The page may not be there yet.
                .ignoreExceptionsInstanceOf(IllegalStateException.class)
                .until(() -> browser.evaluate(condition).equals("true"));
    }

    private String text() {
        return browser.evaluate("document.querySelector('main').textContent");
    }

    private void picture(Path file, int width, int height, boolean dark) throws Exception {
        browser.appearance(width, height, dark);
        browser.screenshot(file);
    }
}
