// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.agent.dra;

import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonInclude;
import io.sidewarp.operator.agent.device.DeviceName;
import io.sidewarp.operator.agent.device.RnicDevice;
import io.sidewarp.operator.api.v1alpha1.SidewarpApi;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A ResourceClaim whose devices pods may use.
 *
 * @param namespace namespace of the claim
 * @param name name of the claim
 * @param uid UID of the claim
 * @param devices devices of the claim, in the order in which a container gets them
 */
@JsonIgnoreProperties(ignoreUnknown = true)
record PreparedClaim(String namespace, String name, String uid, List<PreparedDevice> devices) {

    PreparedClaim {
        devices = List.copyOf(devices);
    }

    /**
     * A device of a claim.
     *
     * @param request request of the claim, without the subrequest
     * @param pool pool of the device: name of the node
     * @param device name of the device in ResourceSlices
     * @param shareId share of a device with several allocations; null if the device has one
     * @param shares number of shares of such a device that the claim consumes; 1 for other devices
     * @param adminAccess whether the claim has the device besides its users, to look after it
     */
    @JsonIgnoreProperties(ignoreUnknown = true)
    @JsonInclude(JsonInclude.Include.NON_NULL)
    record PreparedDevice(
            String request,
            String pool,
            String device,
            @Nullable String shareId,
            int shares,
            boolean adminAccess) {

        /** Returns whether this is a device with several allocations. */
        boolean isShared() {
            return shareId != null;
        }

        /** Returns whether no other claim can have the device, except with admin access. */
        boolean excludesOthers() {
            return !isShared() && !adminAccess;
        }

        /** Returns whether this is a device, or has shares of it. */
        boolean means(RnicDevice other) {
            return DeviceName.means(device, other);
        }
    }

    /** Returns the name of the CDI device for a request, without vendor and class. */
    String cdiName(String request) {
        return uid + "_" + request;
    }

    /** Returns the qualified name of the CDI device for a request. */
    String cdiId(String request) {
        return SidewarpApi.RNIC_RESOURCE + "=" + cdiName(request);
    }

    @Override
    public String toString() {
        return "ResourceClaim " + namespace + "/" + name;
    }
}
