// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.identity;

import static org.assertj.core.api.Assertions.assertThat;

import io.sidewarp.engine.net.tls.TlsCredentials;
import io.sidewarp.service.testing.TestAuthority;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ScheduledExecutorService;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class IdentityTest {

    private final Instant start = Instant.now();
    private static final Duration HOUR = Duration.ofHours(1);

    private final TestAuthority authority = new TestAuthority("example.org");
    private final SetClock clock = new SetClock();
    private final Identity identity = new Identity(new NoSource(), clock);

    @AfterEach
    void close() {
        identity.close();
    }

    @Test
    void problemOfSourceIsToldUntilThereIsCertificate() {
        identity.onProblem("ask somebody");

        assertThat(identity.current()).isEmpty();
        assertThat(identity.first()).isNotDone();
        assertThat(identity.timeLeft()).isEmpty();
        assertThat(identity.lifetime()).isEmpty();
        assertThat(identity.problem())
                .hasValue("this side has no certificate yet, so connections with TLS fail: ask somebody");

        identity.onCredentials(credentials(HOUR));

        assertThat(identity.first()).isCompleted();
        assertThat(identity.problem()).isEmpty();
        assertThat(identity.timeLeft())
                .hasValueSatisfying(left -> assertThat(left).isBetween(HOUR.minusSeconds(1), HOUR));
        assertThat(identity.lifetime()).hasValue(HOUR);
    }

    @Test
    void sourceAwayForAnHourKeepsCertificateUntilItExpires() {
        TlsCredentials credentials = credentials(HOUR);
        identity.onCredentials(credentials);
        identity.onProblem("the source does not answer; start it");

        for (int minute = 0; minute < 59; minute++) {
            clock.now = start.plusSeconds(60L * minute);
            assertThat(identity.current()).containsSame(credentials);
        }
        clock.now = start.plusSeconds(60);
        assertThat(identity.problem())
                .hasValue("the certificate of this side, " + authority.id("cart") + ", valid until "
                        + credentials.expiry() + ", is not renewed: the source does not answer; start it");

        clock.now = start.plus(HOUR);
        assertThat(identity.problem())
                .hasValue("the certificate of this side, " + authority.id("cart") + ", expired at "
                        + credentials.expiry() + ", so peers refuse new connections with TLS: the source does not"
                        + " answer; start it");
        assertThat(identity.current()).containsSame(credentials);
        assertThat(identity.timeLeft())
                .hasValueSatisfying(left -> assertThat(left).isLessThan(Duration.ofSeconds(1)));
    }

    @Test
    void certificateWithLittleTimeLeftIsProblem() {
        identity.onCredentials(credentials(HOUR));

        clock.now = start.plus(Duration.ofMinutes(45));
        assertThat(identity.problem()).isEmpty();

        clock.now = start.plus(Duration.ofMinutes(49));
        assertThat(identity.problem()).get().asString().contains("and its source has not renewed it");
    }

    @Test
    void renewalEndsProblem() {
        identity.onCredentials(credentials(HOUR));
        identity.onProblem("away");
        clock.now = start.plus(HOUR);

        identity.onCredentials(credentials(HOUR.multipliedBy(2)));

        assertThat(identity.problem()).isEmpty();
    }

    @Test
    void sourceThatIsBackEndsProblem() {
        identity.onCredentials(credentials(HOUR));
        identity.onProblem("away");

        identity.onUnchanged();

        assertThat(identity.problem()).isEmpty();
    }

    private TlsCredentials credentials(Duration lifetime) {
        TestAuthority.Leaf leaf = authority.leaf("cart", start, start.plus(lifetime));
        return Credentials.of(
                leaf.key(),
                List.of(leaf.certificate()),
                Map.of("example.org", List.of(authority.certificate())),
                Clock.systemUTC());
    }

    private static final class NoSource implements CertificateSource {

        @Override
        public void start(ScheduledExecutorService thread, Receiver receiver) {}

        @Override
        public void close() {}
    }

    private final class SetClock extends Clock {

        private Instant now = start;

        @Override
        public Instant instant() {
            return now;
        }

        @Override
        public ZoneId getZone() {
            return ZoneOffset.UTC;
        }

        @Override
        public Clock withZone(ZoneId zone) {
            throw new UnsupportedOperationException();
        }
    }
}
