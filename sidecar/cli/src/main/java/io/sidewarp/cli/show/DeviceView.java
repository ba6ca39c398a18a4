// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.cli.show;

import io.sidewarp.cli.text.Sizes;
import io.sidewarp.cli.text.Table;
import io.sidewarp.v1.DeviceInfo;
import io.sidewarp.v1.Limits;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The device: provider, lower layers, capabilities beyond RFC 5040, limits. */
record DeviceView(DeviceInfo device) implements View {

    @Override
    public String text() {
        Table table = new Table("DEVICE", "")
                .row("provider", device.getProvider())
                .row("version", device.getVersion())
                .row("lower layers", String.join(", ", llps()))
                .row("capabilities", capabilities().isEmpty() ? "none" : String.join(", ", capabilities()))
                .row("shared volume", device.getSharedVolume().isEmpty() ? "(off)" : device.getSharedVolume())
                .row("page size", device.getPageSize());
        limits().forEach((name, value) ->
                table.row(name.replace('_', ' '), name.endsWith("octets") ? Sizes.format(value) : value));
        return table.render();
    }

    @Override
    public Object json() {
        Map<String, Object> json = new LinkedHashMap<>();
        json.put("provider", device.getProvider());
        json.put("version", device.getVersion());
        json.put("llps", llps());
        json.put("capabilities", capabilities());
        json.put("shared_volume", device.getSharedVolume());
        json.put("page_size", device.getPageSize());
        json.put("limits", limits());
        return json;
    }

    private List<String> llps() {
        return device.getLlpsList().stream().map(llp -> View.plain(llp, "LLP_")).toList();
    }

    private List<String> capabilities() {
        return device.getCapabilitiesList().stream()
                .map(capability -> View.plain(capability, "CAPABILITY_"))
                .toList();
    }

    private Map<String, Long> limits() {
        Limits limits = device.getLimits();
        Map<String, Long> values = new LinkedHashMap<>();
        values.put("max_regions", (long) limits.getMaxRegions());
        values.put("max_registered_octets", limits.getMaxRegisteredOctets());
        values.put("max_managed_region_octets", limits.getMaxManagedRegionOctets());
        values.put("max_connections", (long) limits.getMaxConnections());
        values.put("max_completion_entries", limits.getMaxCompletionEntries());
        values.put("max_read_requests", limits.getMaxReadRequests());
        values.put("max_receives", limits.getMaxReceives());
        values.put("max_shared_receive_queues", (long) limits.getMaxSharedReceiveQueues());
        values.put("max_listeners", (long) limits.getMaxListeners());
        values.put("max_protection_domains", (long) limits.getMaxProtectionDomains());
        values.put("max_send_queue", (long) limits.getMaxSendQueue());
        values.put("max_receive_queue", (long) limits.getMaxReceiveQueue());
        values.put("max_sge", (long) limits.getMaxSge());
        values.put("max_ird", (long) limits.getMaxIrd());
        values.put("max_ord", (long) limits.getMaxOrd());
        values.put("max_private_data", (long) limits.getMaxPrivateData());
        values.put("max_queue_outstanding", (long) limits.getMaxQueueOutstanding());
        return values;
    }
}
