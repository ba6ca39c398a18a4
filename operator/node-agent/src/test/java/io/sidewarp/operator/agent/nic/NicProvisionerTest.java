// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.agent.nic;

import static org.assertj.core.api.Assertions.assertThat;

import io.sidewarp.operator.agent.host.Errno;
import io.sidewarp.operator.agent.host.HostException;
import io.sidewarp.operator.agent.host.RecordedHost;
import io.sidewarp.operator.agent.nic.ProvisioningResult.FunctionUser;
import io.sidewarp.operator.agent.nic.ProvisioningResult.Outcome;
import io.sidewarp.operator.api.v1alpha1.NicSelector;
import io.sidewarp.operator.api.v1alpha1.NodePolicy;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class NicProvisionerTest extends ProvisionerFixture {
    private static final PciAddress ROCE_PORT = new PciAddress("0000:18:00.0");

    /** Each of its four changes is one write: RoCE off, iWARP on, MTU, virtual functions. */
    private static final NodePolicy EVERYTHING = policy(ROCE_PORT, 4, 9000, true);

    private static final int CHANGES = 4;

    @Test
    void makesEachChangeWithOneWriteAndReadsItBack() throws IOException {
        RecordedHost host = host("intel-e810");

        ProvisioningResult result = only(apply(host, EVERYTHING));

        assertThat(result.outcome()).isEqualTo(Outcome.CHANGED);
        assertThat(result.message()).isEmpty();
        assertThat(host.changes())
                .containsExactly(
                        "pci/0000:18:00.0 enable_roce=false",
                        "pci/0000:18:00.0 enable_iwarp=true",
                        "class/net/ens1f0/mtu=9000",
                        "bus/pci/devices/0000:18:00.0/sriov_numvfs=4");
        assertThat(new NicDiscovery(host)
                        .discover()
                        .nic(ROCE_PORT)
                        .orElseThrow()
                        .virtualFunctions())
                .extracting(function -> function.address().value())
                .containsExactly("0000:18:01.0", "0000:18:01.1", "0000:18:01.2", "0000:18:01.3");
    }

    @Test
    void applyingTwiceWritesOnceForWhateverPolicy() throws IOException {
        for (Integer virtualFunctions : new Integer[] {null, 0, 1, 2, 5, 129}) {
            for (Integer mtu : new Integer[] {null, 9000}) {
                for (Boolean iwarp : new Boolean[] {null, false, true}) {
                    RecordedHost host = RecordedHost.of(
                            "intel-e810", directory.resolve("sys-" + virtualFunctions + "-" + mtu + "-" + iwarp));
                    NodePolicy[] policies = {
                        policy(ROCE_PORT, virtualFunctions, mtu, iwarp),
                        policy(IWARP_PORT, virtualFunctions, mtu, iwarp)
                    };
                    Map<String, String> before = host.configuration();
                    apply(host, policies);
                    // Virtual functions that were made get their MTU at the next look.
                    apply(host, policies);
                    int writes = host.changes().size();

                    assertThat(apply(host, policies))
                            .allSatisfy(result -> assertThat(result.outcome()).isEqualTo(Outcome.UNCHANGED));
                    assertThat(host.changes()).hasSize(writes);

                    apply(host);
                    assertThat(host.configuration()).isEqualTo(before);
                    assertThat(apply(host)).isEmpty();
                }
            }
        }
    }

    @Test
    void leavesNicsAloneThatNoPolicySelects() throws IOException {
        RecordedHost host = host("intel-e810");
        Map<String, String> before = host.configuration();

        apply(host, EVERYTHING);

        assertThat(host.configuration())
                .containsAllEntriesOf(withoutPort(before, "0000:18:00.0"))
                .isNotEqualTo(before);
        assertThat(apply(RecordedHost.of("chelsio-t6", directory.resolve("other")), EVERYTHING))
                .isEmpty();
    }

    private static Map<String, String> withoutPort(Map<String, String> configuration, String address) {
        Map<String, String> others = new HashMap<>(configuration);
        others.keySet().removeIf(key -> key.contains(address));
        return others;
    }

    @Test
    void theFirstPolicyThatSelectsANicRulesIt() throws IOException {
        RecordedHost host = host("intel-e810");
        NicSelector intel = new NicSelector(List.of("8086"), null, null, null, null);
        NodePolicy vendor = TestPolicies.policy("vendor", intel, 2, 1500, null);

        List<ProvisioningResult> results = apply(host, EVERYTHING, vendor);

        assertThat(results).extracting(result -> result.policy().orElseThrow()).containsExactly("fast", "vendor");
        assertThat(host.read("class/net/ens1f0/mtu")).contains("9000");
        assertThat(host.read("class/net/ens1f1/mtu")).contains("1500");
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 4})
    void takesBackWhatItDidWhenAnyChangeIsRefused(int change) throws IOException {
        RecordedHost host = host("intel-e810").refuse(change, Errno.EIO);
        Map<String, String> before = host.configuration();

        ProvisioningResult result = only(apply(host, EVERYTHING));

        assertThat(result.outcome()).isEqualTo(Outcome.FAILED);
        assertThat(result.applied()).isEmpty();
        assertThat(result.failure().orElseThrow().notRolledBack()).isEmpty();
        assertThat(result.message().orElseThrow()).contains("EIO", "as the test wants");
        assertThat(host.configuration()).isEqualTo(before);
        assertThat(apply(host)).as("nothing is left to restore").isEmpty();
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 4})
    void takesBackWhatItDidWhenAnyChangeHasNoEffect(int change) throws IOException {
        RecordedHost host = host("intel-e810").ignore(change);
        Map<String, String> before = host.configuration();

        ProvisioningResult result = only(apply(host, EVERYTHING));

        assertThat(result.outcome()).isEqualTo(Outcome.FAILED);
        // A change without effect shows later: when the kernel refuses a dependent change, or when the value is read
        // back.
        assertThat(result.failure()).isPresent();
        assertThat(host.configuration()).isEqualTo(before);
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void recreatesTheFormerNumberOfVirtualFunctionsWhenTheNewOneFails(int change) throws IOException {
        RecordedHost host = host("intel-e810").refuse(change, Errno.ENOMEM);
        Map<String, String> before = host.configuration();

        ProvisioningResult result = only(apply(host, policy(IWARP_PORT, 6, null, null)));

        assertThat(result.message().orElseThrow()).contains("ENOMEM", "pci=realloc");
        assertThat(host.configuration()).isEqualTo(before);
    }

    @Test
    void saysWhatCouldNotBeTakenBackAndRestoresItLater() throws IOException {
        RecordedHost host = host("intel-e810").refuse(CHANGES, Errno.EIO).refuse(CHANGES + 1, Errno.EIO);
        Map<String, String> before = host.configuration();

        ProvisioningResult result = only(apply(host, EVERYTHING));

        assertThat(result.failure().orElseThrow().notRolledBack())
                .singleElement()
                .asString()
                .contains("MTU of ens1f0 from 1500 to 9000");
        assertThat(host.read("class/net/ens1f0/mtu")).contains("9000");

        assertThat(only(apply(host)).outcome()).isEqualTo(Outcome.CHANGED);
        assertThat(host.configuration()).isEqualTo(before);
    }

    @Test
    void oneNicThatFailsKeepsNoOtherFromItsChanges() throws IOException {
        RecordedHost host = host("intel-e810").refuse(1, Errno.EIO);

        List<ProvisioningResult> results = apply(host, EVERYTHING, policy(IWARP_PORT, null, 1500, null));

        assertThat(results).extracting(ProvisioningResult::outcome).containsExactly(Outcome.FAILED, Outcome.CHANGED);
        assertThat(host.read("class/net/ens1f1/mtu")).contains("1500");
    }

    @ParameterizedTest
    @CsvSource({"0, true", "6, true", "2, false"})
    void waitsForTheUsersOfVirtualFunctionsThatWouldGo(int virtualFunctions, boolean waits) throws IOException {
        RecordedHost host = host("intel-e810");
        PciAddress used = new PciAddress("0000:18:11.1");
        users.put(used, List.of("shop/cart-0"));
        users.put(IWARP_PORT, List.of("shop/not-asked-for"));

        ProvisioningResult result = only(apply(host, policy(IWARP_PORT, virtualFunctions, 1500, null)));

        if (waits) {
            assertThat(result.outcome()).isEqualTo(Outcome.WAITING);
            assertThat(result.users()).containsExactly(new FunctionUser(used, "shop/cart-0"));
            assertThat(result.message()).contains("Waiting for shop/cart-0 (0000:18:11.1) to go.");
            assertThat(host.changes()).isEmpty();
        } else {
            assertThat(result.outcome()).isEqualTo(Outcome.CHANGED);
            assertThat(host.changes()).containsExactly("class/net/ens1f1/mtu=1500");
        }
    }

    @Test
    void functionsAreWithheldWhenNobodyUsesThemAndAskedAboutOnceMore() throws IOException {
        RecordedHost host = host("intel-e810");
        OriginalValues originals = OriginalValues.open(directory.resolve("state"), host.bootId());
        PciAddress last = new PciAddress("0000:18:11.1");
        List<PciAddress> withheld = new ArrayList<>();
        VirtualFunctionUse taken = new VirtualFunctionUse() {
            @Override
            public List<String> users(PciAddress function) {
                boolean used = users.containsKey(function) || !withheld.isEmpty() && function.equals(last);
                return used ? List.of("shop/cart-0") : List.of();
            }

            @Override
            public void withhold(Set<PciAddress> functions) {
                withheld.addAll(functions);
            }
        };
        NicProvisioner provisioner = new NicProvisioner(host, taken, originals);
        List<NodePolicy> none = List.of(policy(IWARP_PORT, 0, null, null));

        users.put(last, List.of("shop/cart-0"));
        assertThat(only(provisioner.apply(new NicDiscovery(host).discover(), none))
                        .outcome())
                .isEqualTo(Outcome.WAITING);
        assertThat(withheld).isEmpty();

        users.clear();
        assertThat(only(provisioner.apply(new NicDiscovery(host).discover(), none))
                        .outcome())
                .isEqualTo(Outcome.WAITING);
        assertThat(withheld).containsExactlyInAnyOrder(new PciAddress("0000:18:11.0"), last);
        assertThat(host.changes()).isEmpty();
    }

    @Test
    void switchingRdmaWaitsForTheUsersOfThePhysicalFunctionToo() throws IOException {
        RecordedHost host = host("intel-e810");
        users.put(IWARP_PORT, List.of("shop/a"));
        users.put(new PciAddress("0000:18:11.0"), List.of("shop/b"));

        ProvisioningResult result = only(apply(host, policy(IWARP_PORT, null, null, false)));

        assertThat(result.users()).extracting(FunctionUser::user).containsExactly("shop/a", "shop/b");
        assertThat(host.changes()).isEmpty();
    }

    @Test
    void restoresWhatItFoundWhenNoPolicySelectsTheNicAnyMore() throws IOException {
        RecordedHost host = host("intel-e810");
        Map<String, String> before = host.configuration();
        apply(host, policy(ROCE_PORT, 2, 4000, null));
        apply(host, EVERYTHING);

        ProvisioningResult result = only(apply(host));

        assertThat(result.policy()).isEmpty();
        assertThat(result.outcome()).isEqualTo(Outcome.CHANGED);
        assertThat(host.configuration()).isEqualTo(before);
    }

    @Test
    void restoresOnlyWhatItChanged() throws IOException {
        RecordedHost host = host("intel-e810");
        apply(host, policy(ROCE_PORT, 2, null, null));
        host.write("class/net/ens1f0/mtu", "4000");

        apply(host);

        assertThat(host.read("class/net/ens1f0/mtu")).contains("4000");
        assertThat(host.read("bus/pci/devices/0000:18:00.0/sriov_numvfs")).contains("0");
    }

    @Test
    void anEarlierBootLeavesNothingToRestore() throws IOException {
        RecordedHost host = host("intel-e810");
        apply(host, policy(ROCE_PORT, null, 9000, null));
        host.reboot();

        assertThat(apply(host)).isEmpty();
        assertThat(host.read("class/net/ens1f0/mtu")).contains("9000");
    }

    @Test
    void anotherCardAtTheAddressIsNotRestored() throws IOException {
        RecordedHost host = host("intel-e810");
        apply(host, policy(ROCE_PORT, null, 9000, null));
        Files.writeString(directory.resolve("sys/bus/pci/devices/0000:18:00.0/device"), "0x1593\n");

        assertThat(apply(host)).isEmpty();
    }

    @Test
    void changesNothingWhenItCouldNotRestoreIt() throws IOException {
        RecordedHost host = host("intel-e810");
        OriginalValues originals = OriginalValues.open(directory.resolve("state"), host.bootId());
        // A directory that cannot be replaced is at the path of the file.
        Files.createDirectories(directory.resolve("state/" + OriginalValues.FILE_NAME + "/in-the-way"));

        ProvisioningResult result = only(new NicProvisioner(host, function -> List.of(), originals)
                .apply(new NicDiscovery(host).discover(), List.of(EVERYTHING)));

        assertThat(result.outcome()).isEqualTo(Outcome.FAILED);
        assertThat(result.message().orElseThrow()).contains("cannot be remembered", "state directory");
        assertThat(host.changes()).isEmpty();
    }

    @Test
    void triesAgainToForgetWhatItRestored() throws IOException {
        RecordedHost host = host("intel-e810");
        OriginalValues originals = OriginalValues.open(directory.resolve("state"), host.bootId());
        NicProvisioner provisioner = new NicProvisioner(host, function -> List.of(), originals);
        provisioner.apply(new NicDiscovery(host).discover(), List.of(policy(ROCE_PORT, null, 9000, null)));
        Path inTheWay = Files.createDirectory(directory.resolve("state/" + OriginalValues.FILE_NAME + ".new"));

        for (int look = 0; look < 2; look++) {
            ProvisioningResult failed = only(provisioner.apply(new NicDiscovery(host).discover(), List.of()));
            assertThat(failed.outcome()).isEqualTo(Outcome.FAILED);
            assertThat(failed.message().orElseThrow()).contains("the changes are made", "state directory");
        }

        Files.delete(inTheWay);
        assertThat(only(provisioner.apply(new NicDiscovery(host).discover(), List.of()))
                        .outcome())
                .isEqualTo(Outcome.UNCHANGED);
        host.write("class/net/ens1f0/mtu", "4000");
        assertThat(apply(host)).as("nothing is left to restore").isEmpty();
    }

    @Test
    void restoresAnInterfaceThatWasAwayWhenItIsBack() throws IOException {
        RecordedHost host = host("intel-e810");
        Map<String, String> before = host.configuration();
        apply(host, policy(ROCE_PORT, null, 9000, null));
        Path present = directory
                .resolve("sys")
                .resolve(host.resolve("class/net/ens1f0").orElseThrow());
        Path away = directory.resolve("in-a-pod");

        Files.move(present, away);
        apply(host, policy(ROCE_PORT, null, 9000, null));
        apply(host);
        Files.move(away, present);
        assertThat(host.read("class/net/ens1f0/mtu")).contains("9000");

        assertThat(only(apply(host)).outcome()).isEqualTo(Outcome.CHANGED);
        assertThat(host.configuration()).isEqualTo(before);
    }

    @Test
    void saysThatASwitchCannotBeReadAndRestoresItLater() throws IOException {
        RecordedHost host = host("intel-e810");
        Map<String, String> before = host.configuration();
        apply(host, policy(IWARP_PORT, null, null, false));
        host.unreadable(IWARP_PORT.value(), Optional.of(Errno.EIO));

        ProvisioningResult ruled = only(apply(host, policy(IWARP_PORT, null, null, true)));
        ProvisioningResult released = only(apply(host));

        assertThat(ruled.message().orElseThrow()).contains("Refused", "enable_iwarp", "EIO");
        assertThat(released.message().orElseThrow()).contains("Refused", "enable_iwarp", "EIO");

        host.unreadable(IWARP_PORT.value(), Optional.empty());
        apply(host);
        assertThat(host.configuration()).isEqualTo(before);
    }

    @Test
    void aSwitchThatNobodyAsksForNeedNotBeRead() throws IOException {
        RecordedHost host = host("intel-e810").unreadable(IWARP_PORT.value(), Optional.of(Errno.EIO));

        assertThat(only(apply(host, policy(IWARP_PORT, null, 1500, null))).message())
                .isEmpty();
        assertThat(host.changes()).containsExactly("class/net/ens1f1/mtu=1500");
    }

    @Test
    void reportsWhatThePolicyCannotHaveAndDoesTheRest() throws IOException {
        RecordedHost host = host("chelsio-t6");

        ProvisioningResult result = only(apply(host, policy(new PciAddress("0000:03:00.4"), 4, 9000, true)));

        assertThat(result.outcome()).isEqualTo(Outcome.CHANGED);
        assertThat(result.message().orElseThrow()).contains("no SR-IOV");
        assertThat(host.changes()).containsExactly("class/net/enp3s0f4/mtu=9000", "class/net/enp3s0f4d1/mtu=9000");
    }

    @Test
    void setsAndRestoresTheMtuOfVirtualFunctions() throws IOException {
        RecordedHost host = host("intel-e810");
        NodePolicy jumbo = policy(IWARP_PORT, 2, 9000, null);

        assertThat(only(apply(host, jumbo)).applied())
                .extracting(Change::toString)
                .containsExactly("MTU of ens1f1v0 from 1500 to 9000");
        assertThat(host.read("class/net/ens1f1v0/mtu")).contains("9000");

        apply(host);
        assertThat(host.read("class/net/ens1f1v0/mtu")).contains("1500");
        assertThat(apply(host)).isEmpty();
    }

    @Test
    void aVirtualFunctionThatRefusesAnMtuUndoesNothingElse() throws IOException {
        RecordedHost host = host("intel-e810");
        apply(host, policy(IWARP_PORT, 3, 9000, null));
        int before = host.changes().size();
        host.refuse(before + 2, Errno.EINVAL);

        ProvisioningResult result = only(apply(host, policy(IWARP_PORT, 3, 9000, null)));

        assertThat(result.outcome()).isEqualTo(Outcome.FAILED);
        assertThat(result.message().orElseThrow())
                .contains("MTU of ens1f1v1 from 1500 to 9000", "The driver does not take this MTU");
        assertThat(host.read("class/net/ens1f1/mtu")).contains("9000");
        assertThat(host.read("class/net/ens1f1v0/mtu")).contains("9000");
        assertThat(host.read("class/net/ens1f1v1/mtu")).contains("1500");
        assertThat(host.read("class/net/ens1f1v2/mtu")).contains("9000");
    }

    @Test
    void asksWhoUsesAFunctionRightBeforeItTakesItAway() throws HostException, IOException {
        RecordedHost host = host("intel-e810");
        List<PciAddress> asked = new ArrayList<>();
        OriginalValues originals = OriginalValues.open(directory.resolve("state"), host.bootId());

        new NicProvisioner(
                        host,
                        function -> {
                            assertThat(host.changes()).isEmpty();
                            asked.add(function);
                            return List.of();
                        },
                        originals)
                .apply(new NicDiscovery(host).discover(), List.of(policy(IWARP_PORT, 0, null, null)));

        assertThat(asked).extracting(PciAddress::value).endsWith("0000:18:11.0", "0000:18:11.1");
    }
}
