// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.api.v1alpha1;

import com.fasterxml.jackson.annotation.JsonProperty;

/** Pull policy of an image. */
public enum ImagePullPolicy {
    @JsonProperty("Always")
    ALWAYS("Always"),
    @JsonProperty("IfNotPresent")
    IF_NOT_PRESENT("IfNotPresent"),
    @JsonProperty("Never")
    NEVER("Never");

    private final String value;

    ImagePullPolicy(String value) {
        this.value = value;
    }

    /** Returns the name in a container's specification. */
    public String value() {
        return value;
    }
}
