// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.testing;

import io.fabric8.kubernetes.client.VersionInfo;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The version of an API server, by which tests know what it can do. */
public record KubernetesVersion(int major, int minor) {

    /** Providers append a plus sign to it. */
    private static final Pattern NUMBER = Pattern.compile("(\\d+).*");

    static KubernetesVersion of(VersionInfo info) {
        return new KubernetesVersion(number(info.getMajor()), number(info.getMinor()));
    }

    private static int number(String text) {
        Matcher matcher = NUMBER.matcher(text);
        if (!matcher.matches()) {
            throw new IllegalArgumentException("the API server has no version number but " + text);
        }
        return Integer.parseInt(matcher.group(1));
    }

    public boolean isAtLeast(int otherMajor, int otherMinor) {
        return major > otherMajor || (major == otherMajor && minor >= otherMinor);
    }

    /** Whether rules in CEL (x-kubernetes-validations) are part of the validation of custom resources. */
    public boolean hasCel() {
        return isAtLeast(1, 25);
    }

    /** Whether an init container can be a sidecar (restartPolicy: Always). */
    public boolean hasNativeSidecars() {
        return isAtLeast(1, 29);
    }

    @Override
    public String toString() {
        return major + "." + minor;
    }
}
