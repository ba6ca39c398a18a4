// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.api.v1alpha1;

import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import io.fabric8.generator.annotation.Pattern;
import io.fabric8.generator.annotation.Size;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Selects the NICs of a policy. A NIC matches if it matches at least one entry of each list that is not empty. A
 * selector without any entry matches no NIC.
 */
@JsonIgnoreProperties(ignoreUnknown = true)
@JsonInclude(JsonInclude.Include.NON_EMPTY)
public record NicSelector(
        @JsonPropertyDescription(
                "PCI vendor ids, four lower case hexadecimal digits: 1425 is Chelsio, 8086 Intel, 1077 Marvell.")
        @Size(min = 1, max = 64)
        List<@Pattern("^[0-9a-f]{4}$") String> vendors,

        @JsonPropertyDescription("PCI device ids, four lower case hexadecimal digits.") @Size(min = 1, max = 64)
        List<@Pattern("^[0-9a-f]{4}$") String> deviceIds,

        @JsonPropertyDescription("Kernel drivers of the physical function, for instance cxgb4, ice, i40e or qede.")
        @Size(min = 1, max = 64)
        List<@Pattern("^[A-Za-z0-9_-]{1,63}$") String> drivers,

        @JsonPropertyDescription(
                "Network interfaces of the physical function. * matches any characters, ? matches one character.")
        @Size(min = 1, max = 64)
        List<@Pattern("^[^/\\s]{1,15}$") String> pfNames,

        @JsonPropertyDescription("PCI addresses of the physical function, for instance 0000:3b:00.0.")
        @Size(min = 1, max = 256)
        List<@Pattern("^[0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}\\.[0-7]$") String> pciAddresses) {

    public NicSelector(
            @Nullable List<String> vendors,
            @Nullable List<String> deviceIds,
            @Nullable List<String> drivers,
            @Nullable List<String> pfNames,
            @Nullable List<String> pciAddresses) {
        this.vendors = orEmpty(vendors);
        this.deviceIds = orEmpty(deviceIds);
        this.drivers = orEmpty(drivers);
        this.pfNames = orEmpty(pfNames);
        this.pciAddresses = orEmpty(pciAddresses);
    }

    private static List<String> orEmpty(@Nullable List<String> list) {
        return list == null ? List.of() : List.copyOf(list);
    }
}
