// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.agent.dra;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.fabric8.kubernetes.api.model.OwnerReference;
import io.fabric8.kubernetes.api.model.OwnerReferenceBuilder;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaim;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceSlice;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.sidewarp.operator.agent.device.PluginStatus.State;
import io.sidewarp.operator.agent.device.PublishedDevices;
import io.sidewarp.operator.agent.device.RnicDevice;
import io.sidewarp.operator.kubelet.dra.v1.Device;
import io.sidewarp.operator.kubelet.drahealth.v1alpha1.HealthStatus;
import io.sidewarp.operator.testing.DraDefinitions;
import io.sidewarp.operator.testing.RealApiServer;
import io.sidewarp.operator.testing.TestNamespaces;
import io.sidewarp.operator.testing.kubelet.ClaimException;
import io.sidewarp.operator.testing.kubelet.PodName;
import io.sidewarp.operator.testing.kubelet.StandInKubelet;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests the driver at a real API server and a stand-in for the kubelet, which speaks the kubelet's protocol. */
@RealApiServer
class DraDriverTest {

    private static final Duration LIMIT = Duration.ofSeconds(60);
    private static final String DRIVER = "rnic.sidewarp.io";
    private static final PodName POD = new PodName("shop", "cart-0");
    private static final AtomicInteger NODES = new AtomicInteger();
    private static final RnicDevice FIRST = RnicDevice.hardware("0000:3b:01.0", "iwp0", "uverbs0");
    private static final RnicDevice SECOND = RnicDevice.hardware("0000:3b:01.1", "iwp1", "uverbs1");
    private static final OwnerReference OWNER = new OwnerReferenceBuilder()
            .withApiVersion("v1")
            .withKind("Node")
            .withName("node")
            .withUid(UUID.randomUUID().toString())
            .build();

    @TempDir
    private Path directory;

    private final String node = "dra-" + NODES.incrementAndGet();
    private final PublishedDevices devices = new PublishedDevices();
    private KubernetesClient client;
    private String namespace;
    private StandInKubelet kubelet;
    private DraDriver driver;

    @BeforeEach
    void start(KubernetesClient server, TestNamespaces namespaces) throws IOException {
        client = server;
        DraDefinitions.install(client, true);
        namespace = namespaces.create();
        kubelet = new StandInKubelet(directory.resolve("kubelet")).start();
        driver = newDriver();
    }

    @AfterEach
    void stop() {
        driver.close();
        kubelet.close();
        slices().forEach(slice -> client.resource(slice).delete());
    }

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
    void aPreparedClaimOutlivesRestartsOfTheAgentAndOfTheKubelet() throws Exception {
        startWith(FIRST);
        ResourceClaim claim = claim("lasting", TestClaims.result("rnic", node, "0000-3b-01-0"));
        List<Device> before = kubelet.claims().prepare(POD, claim, DRIVER);
        String file = Files.readString(cdiFiles().getFirst());

        driver.close();
        await().atMost(LIMIT).until(() -> !kubelet.claims().isRegistered(DRIVER));
        driver = newDriver();
        // Not even the API server is needed for a claim that is prepared.
        client.resource(claim).delete();
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
    void slicesFollowTheDevicesAndBelongToTheNode() throws Exception {
        startWith(FIRST, SECOND);
        await().atMost(LIMIT)
                .untilAsserted(() -> assertThat(published()).containsExactlyInAnyOrder("0000-3b-01-0", "0000-3b-01-1"));
        ResourceSlice before = slices().getFirst();
        assertThat(before.getSpec().getNodeName()).isEqualTo(node);
        assertThat(before.getSpec().getDriver()).isEqualTo(DRIVER);
        assertThat(before.getSpec().getPool().getName()).isEqualTo(node);
        assertThat(before.getSpec().getPool().getResourceSliceCount()).isEqualTo(1);
        assertThat(before.getMetadata().getOwnerReferences()).containsExactly(OWNER);

        devices.publish(List.of(FIRST, SECOND.faulty("the link is down")));
        await().atMost(LIMIT).untilAsserted(() -> assertThat(published()).containsExactly("0000-3b-01-0"));
        assertThat(slices().getFirst().getSpec().getPool().getGeneration())
                .isGreaterThan(before.getSpec().getPool().getGeneration());
    }

    @Test
    void slicesThatAreRightAreNotWrittenAgain() throws Exception {
        startWith(FIRST, RnicDevice.soft(0), RnicDevice.soft(1));
        await().atMost(LIMIT).until(() -> !slices().isEmpty());
        String before = slices().getFirst().getMetadata().getResourceVersion();
        int registrations = kubelet.claims().registrations();

        kubelet.restart();
        await().atMost(LIMIT).until(() -> kubelet.claims().registrations() > registrations);
        // The publication of another device shows that the former one is over.
        devices.publish(List.of(FIRST, SECOND, RnicDevice.soft(0), RnicDevice.soft(1)));
        await().atMost(LIMIT).until(() -> published().contains("0000-3b-01-1"));

        assertThat(slices().getFirst().getSpec().getPool().getGeneration()).isEqualTo(2);
        assertThat(slices().getFirst().getMetadata().getResourceVersion()).isNotEqualTo(before);
    }

    @Test
    void slicesThatAStartingKubeletDeletedComeBack() throws Exception {
        startWith(FIRST);
        await().atMost(LIMIT).until(() -> !slices().isEmpty());

        kubelet.stop();
        slices().forEach(slice -> client.resource(slice).delete());
        kubelet.start();

        await().atMost(LIMIT).until(() -> published().contains("0000-3b-01-0"));
    }

    @Test
    void surplusSlicesAreDeleted() throws Exception {
        DraDefinitions.install(client, false);
        startWith(IntStream.range(0, 300)
                .mapToObj(
                        i -> RnicDevice.hardware("0000:%02x:%02x.0".formatted(i / 32, i % 32), "iwp" + i, "uverbs" + i))
                .toArray(RnicDevice[]::new));
        await().atMost(LIMIT).until(() -> published().size() == 300);
        assertThat(slices()).hasSize(3).allSatisfy(slice -> {
            assertThat(slice.getSpec().getDevices()).hasSizeLessThanOrEqualTo(128);
            assertThat(slice.getSpec().getPool().getResourceSliceCount()).isEqualTo(3);
        });

        devices.publish(List.of(FIRST));

        await().atMost(LIMIT).until(() -> slices().size() == 1);
        assertThat(published()).containsExactly("0000-3b-01-0");
    }

    private static List<String> names(String prefix, int count) {
        return IntStream.range(0, count).mapToObj(number -> prefix + number).toList();
    }

    @Test
    void sharesAreGroupsWhereADeviceCanHaveSeveralAllocations() throws Exception {
        DraDefinitions.install(client, false);
        boolean consumable = DraDefinitions.isBuiltIn(client)
                && Integer.parseInt(client.getKubernetesVersion().getMinor().replaceAll("[^0-9]", "")) >= 36;
        startWith(IntStream.range(0, 20).mapToObj(RnicDevice::soft).toArray(RnicDevice[]::new));
        List<String> groups = names("soft-shared-", 16);
        List<String> shares = names("soft-", 20);
        await().atMost(LIMIT)
                .untilAsserted(() ->
                        assertThat(published()).containsExactlyInAnyOrderElementsOf(consumable ? groups : shares));

        DraDefinitions.install(client, true);
        int registrations = kubelet.claims().registrations();
        kubelet.restart();
        await().atMost(LIMIT).until(() -> kubelet.claims().registrations() > registrations);

        boolean always = consumable || !DraDefinitions.isBuiltIn(client);
        await().atMost(LIMIT)
                .untilAsserted(
                        () -> assertThat(published()).containsExactlyInAnyOrderElementsOf(always ? groups : shares));
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
        await().atMost(LIMIT).until(() -> driver.status().state() == State.STOPPED);
        await().atMost(LIMIT).until(() -> !kubelet.claims().isRegistered(DRIVER));
        assertThat(new DraTestConfig(directory).draPluginDirectory().resolve("dra.sock"))
                .doesNotExist();
    }

    @Test
    void aDriverThatOffersNothingRemovesTheSlicesOfAFormerOne() throws Exception {
        startWith(FIRST);
        await().atMost(LIMIT).until(() -> !slices().isEmpty());
        driver.close();

        driver = newDriver();
        driver.start();
        driver.offer(false, Optional.of(OWNER));

        await().atMost(LIMIT).until(() -> slices().isEmpty());
        assertThat(kubelet.claims().registry()).isEmptyDirectory();
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

    private DraDriver newDriver() {
        return new DraDriver(new DraTestConfig(directory), node, client, devices, devices);
    }

    private void startWith(RnicDevice... all) {
        devices.publish(List.of(all));
        driver.offer(true, Optional.of(OWNER));
        driver.start();
        awaitRegistered();
    }

    private void awaitRegistered() {
        await().atMost(LIMIT)
                .until(() -> driver.status().registered() && kubelet.claims().isRegistered(DRIVER));
    }

    private ResourceClaim claim(String name, String... results) {
        return TestClaims.allocated(client, namespace, name, results);
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

    private void assertRefused(ResourceClaim claim, String... parts) {
        assertThatThrownBy(() -> kubelet.claims().prepare(POD, claim, DRIVER))
                .isInstanceOf(ClaimException.class)
                .hasMessageContainingAll(parts);
    }

    private List<ResourceSlice> slices() {
        return client.resources(ResourceSlice.class).list().getItems().stream()
                .filter(slice -> node.equals(slice.getSpec().getNodeName()))
                .toList();
    }

    private List<String> published() {
        return slices().stream()
                .flatMap(slice -> slice.getSpec().getDevices().stream())
                .map(io.fabric8.kubernetes.api.model.resource.v1.Device::getName)
                .toList();
    }

    private JsonNode cdiFile(ResourceClaim claim) throws IOException {
        return new ObjectMapper()
                .readTree(Files.readString(directory
                        .resolve("cdi")
                        .resolve("sidewarp.io-rnic-" + claim.getMetadata().getUid() + ".json")));
    }

    private List<Path> cdiFiles() throws IOException {
        Path files = directory.resolve("cdi");
        if (!Files.exists(files)) {
            return List.of();
        }
        try (Stream<Path> all = Files.list(files)) {
            return all.toList();
        }
    }

    private static List<String> texts(JsonNode array) {
        List<String> texts = new ArrayList<>();
        array.forEach(text -> texts.add(text.asText()));
        return texts;
    }
}
