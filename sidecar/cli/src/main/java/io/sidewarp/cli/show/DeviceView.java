// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.cli.show;

import io.sidewarp.cli.text.Listing;
import io.sidewarp.cli.text.Sizes;
import io.sidewarp.cli.text.Table;
import io.sidewarp.client.RdmaDeviceInfo;
import io.sidewarp.client.SessionLimits;
import java.util.List;

/** The device: provider, lower layers, capabilities beyond RFC 5040, limits. */
final class DeviceView {

    private static final Listing<SessionLimits> LIMITS = new Listing<SessionLimits>("limits")
            .member("max_regions", SessionLimits::maxRegions)
            .member("max_registered_octets", SessionLimits::maxRegisteredBytes)
            .member("max_managed_region_octets", SessionLimits::maxManagedRegionBytes)
            .member("max_connections", SessionLimits::maxConnections)
            .member("max_completion_entries", SessionLimits::maxCompletionEntries)
            .member("max_read_requests", SessionLimits::maxReadRequests)
            .member("max_receives", SessionLimits::maxReceives)
            .member("max_shared_receive_queues", SessionLimits::maxSharedReceiveQueues)
            .member("max_listeners", SessionLimits::maxListeners)
            .member("max_protection_domains", SessionLimits::maxProtectionDomains)
            .member("max_send_queue", SessionLimits::maxSendQueue)
            .member("max_receive_queue", SessionLimits::maxReceiveQueue)
            .member("max_sge", SessionLimits::maxSge)
            .member("max_ird", SessionLimits::maxIrd)
            .member("max_ord", SessionLimits::maxOrd)
            .member("max_private_data", SessionLimits::maxPrivateData)
            .member("max_queue_outstanding", SessionLimits::maxQueueOutstanding);

    private static final Listing<RdmaDeviceInfo> DEVICES = new Listing<RdmaDeviceInfo>("devices")
            .member("provider", RdmaDeviceInfo::provider)
            .member("version", RdmaDeviceInfo::version)
            .member("llps", device -> Listings.plain(device.llps()))
            .member("capabilities", device -> Listings.plain(device.capabilities()))
            .member("shared_volume", RdmaDeviceInfo::sharedVolume)
            .member("page_size", RdmaDeviceInfo::pageSize)
            .member("limits", device -> LIMITS.json(device.limits()));

    private DeviceView() {}

    static Listing.View of(RdmaDeviceInfo device) {
        List<String> capabilities = Listings.plain(device.capabilities());
        Table table = new Table("DEVICE", "")
                .row("provider", device.provider())
                .row("version", device.version())
                .row("lower layers", String.join(", ", Listings.plain(device.llps())))
                .row("capabilities", capabilities.isEmpty() ? "none" : String.join(", ", capabilities))
                .row("shared volume", device.sharedVolume().isEmpty() ? "(off)" : device.sharedVolume())
                .row("page size", device.pageSize());
        LIMITS.json(device.limits())
                .forEach((name, value) -> table.row(
                        name.replace('_', ' '),
                        name.endsWith("octets") ? Sizes.format(((Number) value).longValue()) : value));
        return new Listing.View(table.render(), DEVICES.json(device));
    }
}
