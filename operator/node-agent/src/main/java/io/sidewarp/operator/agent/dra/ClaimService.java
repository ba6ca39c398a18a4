// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.agent.dra;

import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.api.model.resource.v1.AllocationResult;
import io.fabric8.kubernetes.api.model.resource.v1.DeviceRequestAllocationResult;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaim;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.grpc.Context;
import io.grpc.stub.StreamObserver;
import io.sidewarp.common.FailureText;
import io.sidewarp.common.LogText;
import io.sidewarp.operator.agent.device.ContainerAccess;
import io.sidewarp.operator.agent.device.DeviceInventory;
import io.sidewarp.operator.agent.device.DeviceName;
import io.sidewarp.operator.agent.device.RnicDevice;
import io.sidewarp.operator.agent.dra.PreparedClaim.PreparedDevice;
import io.sidewarp.operator.api.v1alpha1.SidewarpApi;
import io.sidewarp.operator.kubelet.dra.v1.Claim;
import io.sidewarp.operator.kubelet.dra.v1.DRAPluginGrpc;
import io.sidewarp.operator.kubelet.dra.v1.Device;
import io.sidewarp.operator.kubelet.dra.v1.NodePrepareResourceResponse;
import io.sidewarp.operator.kubelet.dra.v1.NodePrepareResourcesRequest;
import io.sidewarp.operator.kubelet.dra.v1.NodePrepareResourcesResponse;
import io.sidewarp.operator.kubelet.dra.v1.NodeUnprepareResourceResponse;
import io.sidewarp.operator.kubelet.dra.v1.NodeUnprepareResourcesRequest;
import io.sidewarp.operator.kubelet.dra.v1.NodeUnprepareResourcesResponse;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jboss.logging.Logger;
import org.jspecify.annotations.Nullable;

/**
 * Prepares claims for the kubelet. A claim is prepared once, and stays as it is until it is unprepared. The kubelet
 * retries refused claims; the pod waits meanwhile, and its events show the reason.
 *
 * <p>Claims are prepared and unprepared one after the other. A kubelet that no longer waits for an answer gets none: its
 * claim is not prepared.
 */
final class ClaimService extends DRAPluginGrpc.DRAPluginImplBase {

    private static final Logger LOG = Logger.getLogger(ClaimService.class);
    private static final String NEW_POD =
            "; delete the pod, so that its controller makes another pod, which gets devices that are there";

    /** A claim cannot be prepared now. The message is for the events of the pod. */
    private static final class RefusedException extends Exception {

        private static final long serialVersionUID = 1L;

        RefusedException(String message) {
            super(message);
        }
    }

    private final String node;
    private final KubernetesClient client;
    private final DeviceInventory claimable;
    private final CdiFiles files;
    private final Runnable changed;

    /**
     * UIDs of the claims that were prepared for an earlier kubelet. The present kubelet may have lost its record of
     * them, and then never unprepares them.
     */
    private final Set<String> inherited = ConcurrentHashMap.newKeySet();

    /**
     * Makes a service.
     *
     * @param node name of the node, and of the pool of its devices
     * @param claimable devices that claims can have
     * @param changed called after claims were prepared or unprepared
     */
    ClaimService(String node, KubernetesClient client, DeviceInventory claimable, CdiFiles files, Runnable changed) {
        this.node = node;
        this.client = client;
        this.claimable = claimable;
        this.files = files;
        this.changed = changed;
    }

    @Override
    public void nodePrepareResources(
            NodePrepareResourcesRequest request, StreamObserver<NodePrepareResourcesResponse> response) {
        NodePrepareResourcesResponse.Builder answer = NodePrepareResourcesResponse.newBuilder();
        for (Claim claim : request.getClaimsList()) {
            NodePrepareResourceResponse.Builder result = NodePrepareResourceResponse.newBuilder();
            try {
                result.addAllDevices(describe(prepare(claim)));
            } catch (RefusedException e) {
                result.setError(String.valueOf(e.getMessage()));
                LOG.warnf(
                        "event=claim-refused claim=%s/%s uid=%s cause=%s",
                        claim.getNamespace(), claim.getName(), claim.getUid(), LogText.quoted(e.getMessage()));
            }
            answer.putClaims(claim.getUid(), result.build());
        }
        response.onNext(answer.build());
        response.onCompleted();
    }

    @Override
    public void nodeUnprepareResources(
            NodeUnprepareResourcesRequest request, StreamObserver<NodeUnprepareResourcesResponse> response) {
        NodeUnprepareResourcesResponse.Builder answer = NodeUnprepareResourcesResponse.newBuilder();
        for (Claim claim : request.getClaimsList()) {
            NodeUnprepareResourceResponse.Builder result = NodeUnprepareResourceResponse.newBuilder();
            try {
                unprepare(claim.getUid());
                LOG.infof(
                        "event=claim-unprepared claim=%s/%s uid=%s",
                        claim.getNamespace(), claim.getName(), claim.getUid());
            } catch (IOException e) {
                result.setError("cannot remove the CDI file of the claim: " + FailureText.withFile(e));
            }
            answer.putClaims(claim.getUid(), result.build());
        }
        changed.run();
        response.onNext(answer.build());
        response.onCompleted();
    }

    /** Notes that another kubelet may have started. */
    void kubeletRegistered() {
        files.claims().forEach(claim -> inherited.add(claim.uid()));
    }

    /**
     * Removes the records of claims that do not exist any more, unless the present kubelet prepared them.
     *
     * @return false if the API server does not tell
     */
    boolean removeOrphans() {
        try {
            for (PreparedClaim claim : files.claims()) {
                removeOrphan(claim);
            }
            return true;
        } catch (RefusedException e) {
            LOG.warnf("event=claims-not-compared cause=%s", LogText.quoted(e.getMessage()));
            return false;
        }
    }

    /**
     * Removes the record of a claim that does not exist any more. A record of the present kubelet stays until it is
     * unprepared: the container of a pod that was deleted by force may still run.
     *
     * @return whether it was removed
     */
    private synchronized boolean removeOrphan(PreparedClaim claim) throws RefusedException {
        if (!inherited.contains(claim.uid())) {
            return false;
        }
        ResourceClaim found = read(claim.namespace(), claim.name());
        if (found != null && claim.uid().equals(found.getMetadata().getUid())) {
            return false;
        }
        try {
            unprepare(claim.uid());
        } catch (IOException e) {
            throw new RefusedException("cannot remove the CDI file of " + claim + ", which does not exist any more: "
                    + FailureText.withFile(e));
        }
        LOG.warnf(
                "event=orphaned-claim-removed claim=%s/%s uid=%s cause=\"the claim is gone, and the kubelet did not"
                        + " unprepare it\"",
                claim.namespace(), claim.name(), claim.uid());
        changed.run();
        return true;
    }

    private synchronized void unprepare(String uid) throws IOException {
        files.remove(uid);
        inherited.remove(uid);
    }

    private synchronized PreparedClaim prepare(Claim claim) throws RefusedException {
        Optional<PreparedClaim> present = files.find(claim.getUid());
        if (present.isPresent()) {
            inherited.remove(claim.getUid());
            return present.get();
        }
        List<DeviceRequestAllocationResult> results = ordered(allocation(claim));
        Map<String, ContainerAccess> access = access(results, claim.getUid());
        PreparedClaim made = new PreparedClaim(
                claim.getNamespace(),
                claim.getName(),
                claim.getUid(),
                results.stream().map(ClaimService::prepared).toList());
        if (Context.current().isCancelled()) {
            // The kubelet may have unprepared the claim already.
            throw new RefusedException("the kubelet does not wait for the answer any more");
        }
        try {
            files.write(made, access);
        } catch (IOException e) {
            throw new RefusedException("cannot write the CDI file of the claim: " + FailureText.withFile(e)
                    + "; check the setting sidewarp.agent.cdi-directory of the node agent");
        }
        withdrawIfChanged(made, results, access);
        LOG.infof("event=claim-prepared claim=%s/%s uid=%s", claim.getNamespace(), claim.getName(), claim.getUid());
        changed.run();
        return made;
    }

    /**
     * Removes the record of a claim again if its devices were withheld before the record was there. The provisioner
     * withholds a device first, and looks for users of the device afterwards.
     */
    private void withdrawIfChanged(
            PreparedClaim made, List<DeviceRequestAllocationResult> results, Map<String, ContainerAccess> access)
            throws RefusedException {
        try {
            if (!access(results, made.uid()).equals(access)) {
                throw new RefusedException("the devices of the claim have just changed; the pod waits for them");
            }
        } catch (RefusedException e) {
            try {
                unprepare(made.uid());
            } catch (IOException failure) {
                LOG.warnf(
                        "event=cdi-file-not-removed claim=%s/%s uid=%s cause=%s",
                        made.namespace(), made.name(), made.uid(), LogText.quoted(failure.toString()));
            }
            throw e;
        }
    }

    /** Returns the access to the present devices of each request. */
    private Map<String, ContainerAccess> access(List<DeviceRequestAllocationResult> results, String uid)
            throws RefusedException {
        Map<String, List<RnicDevice>> devices = new LinkedHashMap<>();
        for (DeviceRequestAllocationResult result : results) {
            devices.computeIfAbsent(request(result), _ -> new ArrayList<>()).add(device(result, uid));
        }
        Map<String, ContainerAccess> access = new LinkedHashMap<>();
        devices.forEach((request, all) -> access.put(request, ContainerAccess.to(all)));
        return access;
    }

    private static PreparedDevice prepared(DeviceRequestAllocationResult result) {
        return new PreparedDevice(
                request(result),
                result.getPool(),
                result.getDevice(),
                result.getShareID(),
                shares(result),
                Boolean.TRUE.equals(result.getAdminAccess()));
    }

    /** Returns the name of a request. A request with alternatives has the name request/alternative. */
    private static String request(DeviceRequestAllocationResult result) {
        return result.getRequest().split("/", 2)[0];
    }

    private @Nullable ResourceClaim read(String namespace, String name) throws RefusedException {
        try {
            return client.resources(ResourceClaim.class)
                    .inNamespace(namespace)
                    .withName(name)
                    .get();
        } catch (KubernetesClientException e) {
            throw new RefusedException("cannot read ResourceClaim " + namespace + "/" + name + ": " + e.getMessage());
        }
    }

    /** Returns the allocated devices of this node. */
    private List<DeviceRequestAllocationResult> allocation(Claim claim) throws RefusedException {
        String name = claim.getNamespace() + "/" + claim.getName();
        ResourceClaim found = read(claim.getNamespace(), claim.getName());
        if (found == null) {
            throw new RefusedException("ResourceClaim " + name + " does not exist" + NEW_POD);
        }
        if (!claim.getUid().equals(found.getMetadata().getUid())) {
            throw new RefusedException("ResourceClaim " + name + " was deleted and made again: its UID is "
                    + found.getMetadata().getUid() + ", and the pod's claim has the UID " + claim.getUid() + NEW_POD);
        }
        AllocationResult allocation =
                found.getStatus() == null ? null : found.getStatus().getAllocation();
        if (allocation == null || allocation.getDevices() == null) {
            throw new RefusedException("ResourceClaim " + name + " is not allocated (any more)" + NEW_POD);
        }
        List<DeviceRequestAllocationResult> results = allocation.getDevices().getResults().stream()
                .filter(result -> SidewarpApi.RNIC_DRIVER.equals(result.getDriver()))
                .toList();
        if (results.isEmpty()) {
            throw new RefusedException(
                    "ResourceClaim " + name + " has no devices of " + SidewarpApi.RNIC_DRIVER + NEW_POD);
        }
        for (DeviceRequestAllocationResult result : results) {
            if (!node.equals(result.getPool())) {
                throw new RefusedException("ResourceClaim " + name + " has device " + result.getDevice() + " of pool "
                        + result.getPool() + ", and this is node " + node + NEW_POD);
            }
        }
        return results;
    }

    /** Returns results with the best kind of device last, since the environment of the last one holds. */
    private List<DeviceRequestAllocationResult> ordered(List<DeviceRequestAllocationResult> results) {
        List<DeviceRequestAllocationResult> ordered = new ArrayList<>();
        List<RnicDevice> devices = claimable.devices().orElse(List.of());
        Map<DeviceRequestAllocationResult, Integer> kinds = new LinkedHashMap<>();
        for (DeviceRequestAllocationResult result : results) {
            kinds.put(
                    result,
                    devices.stream()
                            .filter(device -> DeviceName.means(result.getDevice(), device))
                            .mapToInt(device -> device.kind().ordinal())
                            .findFirst()
                            .orElse(0));
        }
        ordered.addAll(results);
        ordered.sort((one, other) -> Integer.compare(kinds.getOrDefault(other, 0), kinds.getOrDefault(one, 0)));
        return ordered;
    }

    private RnicDevice device(DeviceRequestAllocationResult result, String uid) throws RefusedException {
        Optional<List<RnicDevice>> known = claimable.devices();
        if (known.isEmpty()) {
            throw new RefusedException("the devices of node " + node + " are not known yet; the pod waits for them");
        }
        List<RnicDevice> meant = known.get().stream()
                .filter(device -> DeviceName.means(result.getDevice(), device))
                .toList();
        if (meant.isEmpty()) {
            throw new RefusedException(
                    "node " + node + " has no device " + result.getDevice() + " for claims (any more)" + NEW_POD);
        }
        if (prepared(result).excludesOthers()) {
            refuseSecondUse(result.getDevice(), uid);
        }
        Optional<RnicDevice> usable = meant.stream().filter(RnicDevice::healthy).findFirst();
        if (usable.isEmpty()) {
            throw new RefusedException("device " + result.getDevice() + " of node " + node + " cannot be used: "
                    + meant.getFirst().fault().orElseThrow() + "; the pod waits for it");
        }
        return usable.get();
    }

    /** Refuses a device that another claim still holds, such as the claim of a pod that was deleted by force. */
    private void refuseSecondUse(String device, String uid) throws RefusedException {
        for (PreparedClaim other : files.claims()) {
            boolean holds = other.devices().stream()
                    .anyMatch(each -> each.excludesOthers() && each.device().equals(device));
            if (holds && !other.uid().equals(uid) && !removeOrphan(other)) {
                throw new RefusedException("device " + device + " of node " + node + " is still prepared for " + other
                        + " (UID " + other.uid() + "); the pod waits until the pods of that claim have ended");
            }
        }
    }

    private static int shares(DeviceRequestAllocationResult result) {
        Map<String, Quantity> consumed = result.getConsumedCapacity();
        Quantity shares = consumed == null ? null : consumed.get(Slices.SHARES);
        return shares == null ? 1 : shares.getNumericalAmount().intValue();
    }

    private static List<Device> describe(PreparedClaim claim) {
        Set<String> requests = new HashSet<>();
        return claim.devices().stream()
                .map(device -> {
                    Device.Builder described = Device.newBuilder()
                            .addRequestNames(device.request())
                            .setPoolName(device.pool())
                            .setDeviceName(device.device());
                    if (device.shareId() != null) {
                        described.setShareId(device.shareId());
                    }
                    // One CDI device has all devices of a request.
                    if (requests.add(device.request())) {
                        described.addCdiDeviceIds(claim.cdiId(device.request()));
                    }
                    return described.build();
                })
                .toList();
    }
}
