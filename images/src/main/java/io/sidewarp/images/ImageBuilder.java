// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.images;

import com.google.cloud.tools.jib.api.CacheDirectoryCreationException;
import com.google.cloud.tools.jib.api.Containerizer;
import com.google.cloud.tools.jib.api.ImageReference;
import com.google.cloud.tools.jib.api.InvalidImageReferenceException;
import com.google.cloud.tools.jib.api.Jib;
import com.google.cloud.tools.jib.api.JibContainer;
import com.google.cloud.tools.jib.api.JibContainerBuilder;
import com.google.cloud.tools.jib.api.LogEvent;
import com.google.cloud.tools.jib.api.RegistryException;
import com.google.cloud.tools.jib.api.RegistryImage;
import com.google.cloud.tools.jib.api.TarImage;
import com.google.cloud.tools.jib.api.buildplan.AbsoluteUnixPath;
import com.google.cloud.tools.jib.api.buildplan.Port;
import com.google.cloud.tools.jib.frontend.CredentialRetrieverFactory;
import java.io.IOException;
import java.nio.file.Path;
import java.util.concurrent.ExecutionException;
import java.util.stream.Collectors;

/** Makes images with Jib. */
final class ImageBuilder {
    private final Inputs inputs;
    private final Layers layers;

    ImageBuilder(Inputs inputs) {
        this.inputs = inputs;
        this.layers = new Layers(inputs);
    }

    /**
     * An image that was saved or pushed.
     *
     * @param name name with tag
     * @param digest digest of the manifest, which identifies the image in registries
     * @param id digest of the configuration, which identifies the image in container runtimes
     */
    record Image(String name, String digest, String id) {}

    /** Writes an image to a file in the format of {@code docker save}. */
    Image save(Program program, Path file) {
        String name = program.repository() + ":" + inputs.version();
        TarImage target = TarImage.at(file).named(reference(name));
        return build(program, name, Containerizer.to(target).setOfflineMode(true), "write " + file);
    }

    /**
     * Pushes an image, with the credentials of Docker's configuration.
     *
     * @param registry HOST[:PORT][/PATH]
     * @param insecure whether to accept a registry without TLS, or with an untrusted certificate
     */
    Image push(Program program, String registry, boolean insecure) {
        String name = registry + "/" + program.repository() + ":" + inputs.version();
        ImageReference reference = reference(name);
        CredentialRetrieverFactory credentials = CredentialRetrieverFactory.forImage(reference, (LogEvent event) -> {});
        RegistryImage target = RegistryImage.named(reference).addCredentialRetriever(credentials.dockerConfig());
        return build(program, name, Containerizer.to(target).setAllowInsecureRegistries(insecure), "push " + name);
    }

    private Image build(Program program, String name, Containerizer target, String purpose) {
        JibContainerBuilder image = Jib.fromScratch()
                .setFileEntriesLayers(layers.of(program))
                .setEntrypoint(program.entryPoint(inputs.root()))
                .setWorkingDirectory(AbsoluteUnixPath.get(Program.HOME))
                .setEnvironment(program.environment())
                .setLabels(program.labels(inputs.version()))
                .setExposedPorts(program.ports().stream().map(Port::tcp).collect(Collectors.toSet()))
                .setUser(program.user());
        target.setToolName("sidewarp")
                .setApplicationLayersCache(inputs.work().resolve("layers"))
                .setBaseImageLayersCache(inputs.work().resolve("base"));
        try {
            JibContainer built = image.containerize(target);
            return new Image(
                    name, built.getDigest().toString(), built.getImageId().toString());
        } catch (IOException | RegistryException | CacheDirectoryCreationException e) {
            throw new ImageException("cannot " + purpose + ": " + e.getMessage(), e);
        } catch (ExecutionException e) {
            throw new ImageException("cannot " + purpose + ": " + e.getCause(), e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new ImageException("interrupted", e);
        }
    }

    private static ImageReference reference(String name) {
        try {
            return ImageReference.parse(name);
        } catch (InvalidImageReferenceException e) {
            throw new ImageException("invalid image name " + name + "; give a registry as HOST[:PORT][/PATH]", e);
        }
    }
}
