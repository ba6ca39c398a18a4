// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.agent.dra;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaim;
import io.sidewarp.operator.agent.device.PluginStatus.State;
import io.sidewarp.operator.agent.device.RnicDevice;
import io.sidewarp.operator.kubelet.dra.v1.Device;
import io.sidewarp.operator.kubelet.drahealth.v1alpha1.HealthStatus;
import io.sidewarp.operator.testing.RealApiServer;
import io.sidewarp.operator.testing.kubelet.ClaimException;
import io.sidewarp.operator.testing.kubelet.PodName;
import java.io.IOException;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import org.junit.jupiter.api.Test;

/** Tests the driver at a real API server and a stand-in for the kubelet, which speaks the kubelet's protocol. */
@RealApiServer
class DraDriverTest extends DraDriverFixture {
    @Test
    void aClaimOfVirtualFunctionsGetsTheirDeviceNodesAndEnvironment() throws Exception {
        startWith(FIRST, SECOND);
        ResourceClaim claim = claim(
                "functions",
                TestClaims.result("rnic", node, "0000-3b-01-0"),
                TestClaims.result("rnic", node, "0000-3b-01-1"));

        List<Device> answer = kubelet.claims().prepare(POD, claim, DRIVER);

        String cdiName = claim.getMetadata().getUid() + "_rnic";
        assertThat(answer).extracting(Device::getDeviceName).containsExactly("0000-3b-01-0", "0000-3b-01-1");
        assertThat(answer).allSatisfy(device -> {
            assertThat(device.getRequestNamesList()).containsExactly("rnic");
            assertThat(device.getPoolName()).isEqualTo(node);
        });
        assertThat(answer.stream().flatMap(device -> device.getCdiDeviceIdsList().stream()))
                .containsExactly("sidewarp.io/rnic=" + cdiName);
        JsonNode file = cdiFile(claim);
        assertThat(file.path("cdiVersion").asText()).isEqualTo("0.6.0");
        assertThat(file.path("kind").asText()).isEqualTo("sidewarp.io/rnic");
        assertThat(file.path("devices")).hasSize(1);
        assertThat(file.path("devices").get(0).path("name").asText()).isEqualTo(cdiName);
        JsonNode edits = file.path("devices").get(0).path("containerEdits");
        assertThat(texts(edits.path("env")))
                .containsExactly("SIDEWARP_RNIC_DEVICES=iwp0,iwp1", "SIDEWARP_RNIC_PROVIDER=hardware");
        assertThat(edits.path("deviceNodes").findValuesAsText("path"))
                .containsExactlyInAnyOrder(
                        "/dev/infiniband/uverbs0", "/dev/infiniband/uverbs1", "/dev/infiniband/rdma_cm");
        assertThat(edits.path("deviceNodes").findValuesAsText("permissions")).containsOnly("rw");
    }

    @Test
    void aShareOfASiwDeviceIsPreparedForEachClaimOfIt() throws Exception {
        startWith(RnicDevice.kernelSiw("siw0", 0, "uverbs2"), RnicDevice.kernelSiw("siw0", 1, "uverbs2"));
        ResourceClaim one = claim("one", shared("siw-shared-0"));
        ResourceClaim two = claim("two", shared("siw-shared-0"));

        List<Device> answer = kubelet.claims().prepare(POD, one, DRIVER);
        kubelet.claims().prepare(new PodName("shop", "cart-1"), two, DRIVER);

        assertThat(answer)
                .singleElement()
                .satisfies(device -> assertThat(device.getShareId())
                        .isEqualTo(one.getStatus()
                                .getAllocation()
                                .getDevices()
                                .getResults()
                                .getFirst()
                                .getShareID()));
        JsonNode edits = cdiFile(two).path("devices").get(0).path("containerEdits");
        assertThat(texts(edits.path("env")))
                .containsExactly("SIDEWARP_RNIC_DEVICES=siw0", "SIDEWARP_RNIC_PROVIDER=kernel-siw");
    }

    @Test
    void aRequestWithAlternativesIsAnsweredByItsOwnName() throws Exception {
        startWith(RnicDevice.soft(0), RnicDevice.soft(1));
        ResourceClaim claim = claim("alternatives", TestClaims.result("rnic/software", node, "soft-1"));

        assertThat(kubelet.claims().prepare(POD, claim, DRIVER)).singleElement().satisfies(device -> {
            assertThat(device.getRequestNamesList()).containsExactly("rnic");
            assertThat(device.getCdiDeviceIdsList())
                    .containsExactly("sidewarp.io/rnic=" + claim.getMetadata().getUid() + "_rnic");
        });
        assertThat(texts(cdiFile(claim)
                        .path("devices")
                        .get(0)
                        .path("containerEdits")
                        .path("env")))
                .containsExactly("SIDEWARP_RNIC_PROVIDER=software");
    }

    @Test
    void theBestRequestOfAClaimIsTheLastSoThatItsEnvironmentHolds() throws Exception {
        startWith(FIRST, RnicDevice.soft(0));
        ResourceClaim claim = claim(
                "mixed", TestClaims.result("best", node, "0000-3b-01-0"), TestClaims.result("spare", node, "soft-0"));

        assertThat(kubelet.claims().prepare(POD, claim, DRIVER))
                .extracting(device -> device.getRequestNames(0))
                .containsExactly("spare", "best");
    }

    @Test
    void saysWhyAClaimIsRefusedAndWhatToDo() throws Exception {
        startWith(FIRST, SECOND.faulty("the link is down"));

        assertRefused(missing("gone"), namespace + "/gone does not exist", "delete the pod");
        assertRefused(claim("elsewhere", TestClaims.result("rnic", "another", "0000-3b-01-0")), "pool another", node);
        assertRefused(claim("unknown", TestClaims.result("rnic", node, "0000-5e-01-0")), "no device 0000-5e-01-0");
        assertRefused(
                claim("faulty", TestClaims.result("rnic", node, "0000-3b-01-1")), "the link is down", "the pod waits");
    }

    @Test
    void aClaimThatWasMadeAgainUnderItsNameIsRefused() throws Exception {
        startWith(FIRST);
        ResourceClaim old = claim("again", TestClaims.result("rnic", node, "0000-3b-01-0"));
        client.resource(old).delete();
        claim("again", TestClaims.result("rnic", node, "0000-3b-01-0"));

        assertRefused(old, "was deleted and made again", old.getMetadata().getUid());
        assertThat(cdiFiles()).isEmpty();
    }

    @Test
    void aDeviceThatAnotherClaimHoldsIsNotPreparedTwice() throws Exception {
        startWith(FIRST);
        ResourceClaim holder = claim("holder", TestClaims.result("rnic", node, "0000-3b-01-0"));
        ResourceClaim next = claim("next", TestClaims.result("rnic", node, "0000-3b-01-0"));
        kubelet.claims().prepare(POD, holder, DRIVER);

        assertRefused(next, "still prepared for ResourceClaim " + namespace + "/holder");

        kubelet.claims().unprepare(holder, DRIVER);
        assertThat(kubelet.claims().prepare(POD, next, DRIVER)).hasSize(1);
    }

    @Test
    void aClaimWithAdminAccessGetsADeviceInUseAndBlocksNoOtherClaim() throws Exception {
        client.namespaces()
                .withName(namespace)
                .edit(named -> named.edit()
                        .editMetadata()
                        .addToLabels("resource.kubernetes.io/admin-access", "true")
                        .endMetadata()
                        .build());
        startWith(FIRST);
        String device = TestClaims.result("rnic", node, "0000-3b-01-0");
        ResourceClaim user = claim("user", device);
        ResourceClaim admin = claim("admin", device.replace("}", ", adminAccess: true}"));
        kubelet.claims().prepare(POD, user, DRIVER);

        assertThat(kubelet.claims().prepare(new PodName("ops", "look"), admin, DRIVER))
                .extracting(Device::getDeviceName)
                .containsExactly("0000-3b-01-0");
        kubelet.claims().unprepare(user, DRIVER);
        driver.close();
        driver = newDriver();
        startWith(FIRST);

        assertThat(kubelet.claims().prepare(POD, claim("next", device), DRIVER)).hasSize(1);
        assertThat(driver.preparedDevices().get("0000:3b:01.0")).hasSize(2);
    }

    @Test
    void aPreparedClaimOutlivesRestartsOfTheAgentAndOfTheKubelet() throws Exception {
        startWith(FIRST);
        ResourceClaim claim = claim("lasting", TestClaims.result("rnic", node, "0000-3b-01-0"));
        List<Device> before = kubelet.claims().prepare(POD, claim, DRIVER);
        String file = Files.readString(cdiFiles().getFirst());

        driver.close();
        await().atMost(LIMIT).until(() -> !kubelet.claims().isRegistered(DRIVER));
        driver = newDriver();
        // The allocation is not needed for a claim that is prepared.
        ResourceClaim deallocated = client.resource(claim)
                .get()
                .edit()
                .editStatus()
                .withAllocation(null)
                .endStatus()
                .build();
        client.resource(deallocated).updateStatus();
        startWith(FIRST.faulty("the link is down"));
        kubelet.restart();
        awaitRegistered();

        assertThat(kubelet.claims().prepare(POD, claim, DRIVER)).isEqualTo(before);
        assertThat(Files.readString(cdiFiles().getFirst())).isEqualTo(file);
        assertThat(driver.preparedDevices()).containsOnlyKeys("0000:3b:01.0");
    }

    @Test
    void anUnpreparedClaimLeavesNoFileAndUnknownOnesAreFine() throws Exception {
        startWith(FIRST);
        ResourceClaim claim = claim("short", TestClaims.result("rnic", node, "0000-3b-01-0"));
        kubelet.claims().prepare(POD, claim, DRIVER);
        assertThat(cdiFiles()).hasSize(1);

        kubelet.claims().unprepare(claim, DRIVER);
        assertThat(cdiFiles()).isEmpty();
        assertThat(driver.preparedDevices()).isEmpty();

        kubelet.claims().unprepare(claim, DRIVER);
        kubelet.claims().unprepare(missing("never"), DRIVER);
    }

    @Test
    void podsWaitWhileTheDriverIsAwayAndStartWhenItIsBack() throws Exception {
        ResourceClaim claim = claim("patient", TestClaims.result("rnic", node, "0000-3b-01-0"));
        assertThatThrownBy(() -> kubelet.claims().prepare(POD, claim, DRIVER))
                .isInstanceOf(ClaimException.class)
                .hasMessageContaining("is not registered");

        startWith(FIRST);

        assertThat(kubelet.claims().prepare(POD, claim, DRIVER)).hasSize(1);
    }

    @Test
    void theKubeletHearsTheHealthOfDevicesAtOnceAndAtEachChange() throws Exception {
        startWith(FIRST, RnicDevice.soft(0));
        await().atMost(LIMIT)
                .untilAsserted(() -> assertThat(kubelet.claims().health(DRIVER))
                        .hasEntrySatisfying(
                                "0000-3b-01-0",
                                health -> assertThat(health.getHealth()).isEqualTo(HealthStatus.HEALTHY))
                        .hasEntrySatisfying(
                                "soft-shared-0",
                                health -> assertThat(health.getHealth()).isEqualTo(HealthStatus.HEALTHY)));

        devices.publish(List.of(FIRST.faulty("the link is down"), RnicDevice.soft(0)));

        await().atMost(LIMIT)
                .untilAsserted(() -> assertThat(kubelet.claims().health(DRIVER))
                        .hasEntrySatisfying("0000-3b-01-0", health -> {
                            assertThat(health.getHealth()).isEqualTo(HealthStatus.UNHEALTHY);
                            assertThat(health.getMessage()).isEqualTo("the link is down");
                            assertThat(health.getDevice().getPoolName()).isEqualTo(node);
                        }));
    }

    @Test
    void whenClaimsAreSwitchedOffTheSlicesGoAtOnceAndTheDriverAfterTheLastClaim() throws Exception {
        startWith(FIRST, SECOND);
        await().atMost(LIMIT).until(() -> !slices().isEmpty());
        ResourceClaim claim = claim("last", TestClaims.result("rnic", node, "0000-3b-01-0"));
        kubelet.claims().prepare(POD, claim, DRIVER);

        driver.offer(false, Optional.of(OWNER));

        await().atMost(LIMIT).until(() -> slices().isEmpty());
        assertThat(kubelet.claims().isRegistered(DRIVER)).isTrue();
        kubelet.claims().unprepare(claim, DRIVER);
        // The kubelet drops the answer of a driver that is gone.
        assertThat(kubelet.claims().isRegistered(DRIVER)).isTrue();
        await().atMost(LIMIT).until(() -> driver.status().state() == State.STOPPED);
        await().atMost(LIMIT).until(() -> !kubelet.claims().isRegistered(DRIVER));
        assertThat(new DraTestConfig(directory).draPluginDirectory().resolve("dra.sock"))
                .doesNotExist();
    }

    @Test
    void saysWhyTheKubeletRefusesTheDriver() throws Exception {
        kubelet.claims().refuseRegistrations("told to refuse");
        devices.publish(List.of(FIRST));
        driver.offer(true, Optional.of(OWNER));
        driver.start();

        await().atMost(LIMIT).until(() -> driver.status().state() == State.RETRYING);
        assertThat(driver.status().message()).contains("told to refuse");
        assertThat(slices()).isEmpty();

        kubelet.claims().refuseRegistrations("");
        awaitRegistered();
    }

    @Test
    void servesAgainWhenItsSocketIsRemoved() throws Exception {
        startWith(FIRST);
        int registrations = kubelet.claims().registrations();

        Files.delete(kubelet.claims().registry().resolve("rnic.sidewarp.io-reg.sock"));

        await().atMost(LIMIT).until(() -> kubelet.claims().registrations() > registrations);
        awaitRegistered();
    }

    private String shared(String device) {
        return TestClaims.result("rnic", node, device).replace("}", ", shareID: " + UUID.randomUUID() + "}");
    }

    private ResourceClaim missing(String name) {
        ResourceClaim claim = new ResourceClaim();
        claim.setMetadata(new io.fabric8.kubernetes.api.model.ObjectMetaBuilder()
                .withNamespace(namespace)
                .withName(name)
                .withUid(UUID.randomUUID().toString())
                .build());
        return claim;
    }

    private JsonNode cdiFile(ResourceClaim claim) throws IOException {
        return new ObjectMapper().readTree(Files.readString(cdiPath(claim)));
    }

    private static List<String> texts(JsonNode array) {
        List<String> texts = new ArrayList<>();
        array.forEach(text -> texts.add(text.asText()));
        return texts;
    }
}
