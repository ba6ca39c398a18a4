// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.agent.dra;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaim;
import io.sidewarp.operator.testing.RealApiServer;
import org.junit.jupiter.api.Test;

/** Tests records of claims that are gone, such as after the kubelet's state was wiped while the CDI files stayed. */
@RealApiServer
class OrphanedClaimTest extends DraDriverFixture {
    private static final String DEVICE = "0000-3b-01-0";

    @Test
    void aRecordWhoseClaimIsGoneIsRemovedAfterARegistration() throws Exception {
        startWith(FIRST, SECOND);
        ResourceClaim gone = claim("gone", TestClaims.result("rnic", node, DEVICE));
        ResourceClaim lasting = claim("lasting", TestClaims.result("rnic", node, "0000-3b-01-1"));
        kubelet.claims().prepare(POD, gone, DRIVER);
        kubelet.claims().prepare(POD, lasting, DRIVER);

        client.resource(gone).delete();
        kubelet.restart();

        await().atMost(LIMIT).untilAsserted(() -> assertThat(cdiFiles()).containsExactly(cdiPath(lasting)));
        assertThat(driver.preparedDevices()).containsOnlyKeys("0000:3b:01.1");
    }

    @Test
    void aDeviceOfAnOrphanedRecordIsFreeForAnotherClaim() throws Exception {
        startWith(FIRST);
        ResourceClaim former = claim("data", TestClaims.result("rnic", node, DEVICE));
        kubelet.claims().prepare(POD, former, DRIVER);
        driver.close();
        driver = newDriver();
        // Without an offer, the driver does not compare the records after its registration.
        driver.start();
        awaitRegistered();
        assertRefused(claim("other", TestClaims.result("rnic", node, DEVICE)), "still prepared");

        client.resource(former).delete();
        ResourceClaim again = claim("data", TestClaims.result("rnic", node, DEVICE));

        assertThat(kubelet.claims().prepare(POD, again, DRIVER)).hasSize(1);
        assertThat(cdiFiles()).containsExactly(cdiPath(again));
    }

    @Test
    void aClaimOfAPodThatWasDeletedByForceKeepsItsDeviceUntilItIsUnprepared() throws Exception {
        startWith(FIRST);
        ResourceClaim holder = claim("holder", TestClaims.result("rnic", node, DEVICE));
        kubelet.claims().prepare(POD, holder, DRIVER);
        client.resource(holder).delete();
        ResourceClaim next = claim("next", TestClaims.result("rnic", node, DEVICE));

        assertRefused(next, "still prepared for ResourceClaim " + namespace + "/holder");

        kubelet.claims().unprepare(holder, DRIVER);
        assertThat(kubelet.claims().prepare(POD, next, DRIVER)).hasSize(1);
    }
}
