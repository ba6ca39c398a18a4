// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import io.sidewarp.e2e.support.Logs;
import io.sidewarp.e2e.support.OwnedProcess;
import io.sidewarp.e2e.support.Patience;
import io.sidewarp.e2e.support.Programs;
import io.sidewarp.e2e.support.Tools;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Makes the site of the documentation. That fails when a link leads nowhere. */
@ExtendWith(Logs.class)
class SiteIT {

    @Test
    void siteHasAllPagesAndNeedsNoOtherServer() throws IOException {
        Tools.need("node", "nodejs");
        Tools.need("npm", "npm");
        try (OwnedProcess site = OwnedProcess.start("site", List.of("./sidewarp", "site"), Map.of(), Programs.root())) {
            assertThat(site.awaitExit(Patience.LONG_LIMIT)).as(site.text()).isZero();
        }

        Path output = Programs.root().resolve("target/site");
        try (Stream<Path> docs = Files.list(Programs.root().resolve("docs"))) {
            assertThat(docs.map(page -> page.getFileName().toString())
                            .filter(name -> name.endsWith(".md"))
                            .map(name -> name.replace("README.md", "index.md").replace(".md", ".html")))
                    .allSatisfy(page -> assertThat(output.resolve(page)).isRegularFile());
        }
        assertThat(output.resolve("index.html"))
                .content()
                .contains("href=\"/clients/java/\"", "href=\"/tutorial.html\"")
                .doesNotContainPattern("(src|href)=\"https?:");
        // A page loads fonts and the index of the search from here too.
        try (Stream<Path> assets = Files.walk(output.resolve("assets"))) {
            assertThat(assets.filter(file -> file.toString().endsWith(".css")))
                    .isNotEmpty()
                    .allSatisfy(style -> assertThat(style).content().doesNotContainPattern("url\\([\"']?https?:"));
        }
    }
}
