// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.agent.dra;

import static org.assertj.core.api.Assertions.assertThat;

import io.sidewarp.operator.agent.device.RnicDevice;
import io.sidewarp.operator.agent.dra.OfferedDevices.Division;
import io.sidewarp.operator.agent.dra.PreparedClaim.PreparedDevice;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class OfferedDevicesTest {

    private static final RnicDevice FIRST = RnicDevice.hardware("0000:3b:01.0", "iwp0", "uverbs0");
    private static final RnicDevice SECOND = RnicDevice.hardware("0000:3b:01.1", "iwp1", "uverbs1");
    private static final List<RnicDevice> BOTH = List.of(FIRST, SECOND);
    private static final List<RnicDevice> SHARES =
            IntStream.range(0, 48).mapToObj(RnicDevice::soft).toList();

    private final List<PreparedClaim> prepared = new ArrayList<>();
    private final OfferedDevices offers = new OfferedDevices(() -> prepared);

    @Test
    void eachDeviceIsOfferedOnceAsWanted() {
        Division division = offers.divide(BOTH, device -> device.equals(SECOND), users(Map.of()));

        assertThat(division.plugin()).containsExactly(FIRST);
        assertThat(division.claims()).containsExactly(SECOND);
        assertThat(division.waiting()).isEmpty();
    }

    @Test
    void aDeviceThatNoPodHasChangesOverAfterOneLookInWhichNobodyOffersIt() {
        offers.divide(List.of(FIRST), _ -> false, users(Map.of()));

        Division between = offers.divide(List.of(FIRST), _ -> true, users(Map.of()));
        assertThat(between.claims()).isEmpty();
        assertThat(between.plugin()).singleElement().matches(device -> !device.healthy());

        Division after = offers.divide(List.of(FIRST), _ -> true, users(Map.of()));
        assertThat(after.claims()).containsExactly(FIRST);
        assertThat(after.plugin()).isEmpty();
        assertThat(after.waiting()).isEmpty();
    }

    @Test
    void aDeviceOfAPodWaitsForThePodAndNamesIt() {
        Optional<Map<String, List<String>>> pod = users(Map.of(FIRST.id(), List.of("shop/cart-0")));
        offers.divide(BOTH, _ -> false, pod);

        offers.divide(BOTH, _ -> true, pod);
        Division waits = offers.divide(BOTH, _ -> true, pod);
        assertThat(waits.claims()).containsExactly(SECOND);
        assertThat(waits.plugin()).singleElement().matches(device -> !device.healthy());
        assertThat(waits.waiting())
                .containsExactly("devices change from the device plugin to ResourceClaims: 0000:3b:01.0 is used by"
                        + " shop/cart-0");

        assertThat(offers.divide(BOTH, _ -> true, users(Map.of())).claims()).containsExactly(FIRST, SECOND);
    }

    @Test
    void aDeviceOfAClaimWaitsForTheClaim() {
        prepared.add(claim("uid-1", new PreparedDevice("rnic", "node", "0000-3b-01-0", null, 1, false)));
        offers.divide(BOTH, _ -> true, users(Map.of()));

        offers.divide(BOTH, _ -> false, users(Map.of()));
        Division waits = offers.divide(BOTH, _ -> false, users(Map.of()));
        assertThat(waits.plugin()).containsExactly(SECOND);
        assertThat(waits.claims()).isEmpty();
        assertThat(waits.waiting()).singleElement().asString().contains("ResourceClaim shop/claim");

        prepared.clear();
        assertThat(offers.divide(BOTH, _ -> false, users(Map.of())).plugin()).containsExactly(FIRST, SECOND);
    }

    @Test
    void sharesOfAClaimAreThoseThatThePluginHasNotGivenToPods() {
        prepared.add(claim("uid-1", new PreparedDevice("rnic", "node", "soft-shared-9", "share-1", 2, false)));
        Optional<Map<String, List<String>>> pod = users(Map.of("soft-41", List.of("shop/cart-0")));

        Division division = offers.divide(SHARES, _ -> false, pod);

        assertThat(division.plugin())
                .extracting(RnicDevice::id)
                .hasSize(46)
                .contains("soft-0", "soft-8", "soft-41")
                .doesNotContain("soft-9", "soft-25");
    }

    @Test
    void anAgentThatStartsLetsAPodKeepItsDeviceAndChangesNothingWhileTheKubeletIsAway() {
        Division away = offers.divide(BOTH, _ -> true, Optional.empty());
        assertThat(away.claims()).isEmpty();
        assertThat(away.plugin()).hasSize(2).noneMatch(RnicDevice::healthy);
        assertThat(offers.divide(BOTH, _ -> true, Optional.empty()).claims()).isEmpty();

        assertThat(offers.divide(BOTH, _ -> true, users(Map.of(FIRST.id(), List.of("shop/cart-0"))))
                        .claims())
                .containsExactly(SECOND);
    }

    private static Optional<Map<String, List<String>>> users(Map<String, List<String>> users) {
        return Optional.of(users);
    }

    private static PreparedClaim claim(String uid, PreparedDevice device) {
        return new PreparedClaim("shop", "claim", uid, List.of(device));
    }
}
