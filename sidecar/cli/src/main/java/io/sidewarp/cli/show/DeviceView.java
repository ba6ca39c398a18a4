// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.cli.show;

import io.sidewarp.cli.text.Sizes;
import io.sidewarp.cli.text.Table;
import io.sidewarp.client.RdmaDeviceInfo;
import io.sidewarp.client.SessionLimits;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The device: provider, lower layers, capabilities beyond RFC 5040, limits. */
record DeviceView(RdmaDeviceInfo device) implements View {

    @Override
    public String text() {
        Table table = new Table("DEVICE", "")
                .row("provider", device.provider())
                .row("version", device.version())
                .row("lower layers", String.join(", ", llps()))
                .row("capabilities", capabilities().isEmpty() ? "none" : String.join(", ", capabilities()))
                .row("shared volume", device.sharedVolume().isEmpty() ? "(off)" : device.sharedVolume())
                .row("page size", device.pageSize());
        limits().forEach((name, value) ->
                table.row(name.replace('_', ' '), name.endsWith("octets") ? Sizes.format(value) : value));
        return table.render();
    }

    @Override
    public Object json() {
        Map<String, Object> json = new LinkedHashMap<>();
        json.put("provider", device.provider());
        json.put("version", device.version());
        json.put("llps", llps());
        json.put("capabilities", capabilities());
        json.put("shared_volume", device.sharedVolume());
        json.put("page_size", device.pageSize());
        json.put("limits", limits());
        return json;
    }

    private List<String> llps() {
        return device.llps().stream().map(View::plain).toList();
    }

    private List<String> capabilities() {
        return device.capabilities().stream().map(View::plain).toList();
    }

    private Map<String, Long> limits() {
        SessionLimits limits = device.limits();
        Map<String, Long> values = new LinkedHashMap<>();
        values.put("max_regions", (long) limits.maxRegions());
        values.put("max_registered_octets", limits.maxRegisteredBytes());
        values.put("max_managed_region_octets", limits.maxManagedRegionBytes());
        values.put("max_connections", (long) limits.maxConnections());
        values.put("max_completion_entries", limits.maxCompletionEntries());
        values.put("max_read_requests", limits.maxReadRequests());
        values.put("max_receives", limits.maxReceives());
        values.put("max_shared_receive_queues", (long) limits.maxSharedReceiveQueues());
        values.put("max_listeners", (long) limits.maxListeners());
        values.put("max_protection_domains", (long) limits.maxProtectionDomains());
        values.put("max_send_queue", (long) limits.maxSendQueue());
        values.put("max_receive_queue", (long) limits.maxReceiveQueue());
        values.put("max_sge", (long) limits.maxSge());
        values.put("max_ird", (long) limits.maxIrd());
        values.put("max_ord", (long) limits.maxOrd());
        values.put("max_private_data", (long) limits.maxPrivateData());
        values.put("max_queue_outstanding", (long) limits.maxQueueOutstanding());
        return values;
    }
}
