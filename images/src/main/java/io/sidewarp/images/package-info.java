// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

/**
 * Makes the container images: a root file system from Debian's packages, a Java runtime from jlink, and the packaged
 * programs. The same inputs give the same digests.
 */
@NullMarked
package io.sidewarp.images;

import org.jspecify.annotations.NullMarked;
