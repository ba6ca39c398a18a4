// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.testing;

import io.fabric8.kubernetes.client.VersionInfo;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Version of an API server. Tests derive the server's features from it. */
public record KubernetesVersion(int major, int minor) {

    /** Form of a version number; providers append a plus sign to the minor one. */
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

    boolean isAtLeast(int otherMajor, int otherMinor) {
        return major > otherMajor || (major == otherMajor && minor >= otherMinor);
    }

    /** Returns whether the validation of custom resources supports rules in CEL (x-kubernetes-validations). */
    public boolean hasCel() {
        return isAtLeast(1, 25);
    }

    /** Returns whether the server has ValidatingAdmissionPolicies, and names the node in tokens of pods. */
    public boolean hasAdmissionPolicies() {
        return isAtLeast(1, 30);
    }

    @Override
    public String toString() {
        return major + "." + minor;
    }
}
