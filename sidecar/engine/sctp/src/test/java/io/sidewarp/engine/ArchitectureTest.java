// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine;

import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaMethodCall;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import io.sidewarp.conformance.Requirement;
import java.io.ObjectInputStream;
import java.lang.foreign.Arena;
import java.lang.foreign.Linker;
import java.lang.foreign.SymbolLookup;
import java.lang.invoke.MethodHandles;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Timer;
import java.util.concurrent.Executors;
import java.util.concurrent.ThreadFactory;
import org.junit.jupiter.api.Test;

/**
 * Checks the layers of the engine's packages: each package knows only packages below it, and the protocol does no I/O.
 */
class ArchitectureTest {
    private static final String MEMORY = "io.sidewarp.engine.memory..";
    private static final String LLP = "io.sidewarp.engine.llp..";
    private static final String DDP = "io.sidewarp.engine.ddp..";
    private static final String RDMAP = "io.sidewarp.engine.rdmap..";
    private static final String VERBS = "io.sidewarp.engine.verbs..";
    private static final String NET = "io.sidewarp.engine.net..";
    private static final String SCTP_SOCKET = "io.sidewarp.engine.net.sctp.socket";
    private static final String USRSCTP = "io.sidewarp.engine.net.sctp.usrsctp";
    private static final String KERNEL_SCTP = "io.sidewarp.engine.net.sctp.kernel";
    private static final String LINUX = "io.sidewarp.engine.linux";
    private static final String PROVIDER = "io.sidewarp.provider..";
    private static final String KERNEL_VERBS = "io.sidewarp.provider.kernel";
    private static final String SOFTWARE = "io.sidewarp.provider.software..";
    private static final String[] PROTOCOL = {MEMORY, LLP, DDP, RDMAP};

    private static final JavaClasses ENGINE = new ClassFileImporter()
            .withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS)
            .withImportOption(location -> !location.contains("-tests.jar"))
            .importPackages("io.sidewarp");

    @Test
    void memoryKnowsOnlyTheCallsOfLinux() {
        assertKnowsOnly(MEMORY, LINUX);
    }

    @Test
    void theCallsOfLinuxKnowNoOtherPackageOfTheEngine() {
        assertKnowsOnly(LINUX);
    }

    @Test
    void theLowerLayersKnowOnlyVerbsAndMemory() {
        assertKnowsOnly(LLP, VERBS, MEMORY);
    }

    @Test
    void ddpKnowsOnlyTheLowerLayersAndWhatIsBelowThem() {
        assertKnowsOnly(DDP, LLP, VERBS, MEMORY);
    }

    @Test
    void rdmapKnowsOnlyDdpAndWhatIsBelowIt() {
        assertKnowsOnly(RDMAP, DDP, LLP, VERBS, MEMORY);
    }

    @Test
    void verbsKnowOnlyMemory() {
        assertKnowsOnly(VERBS, MEMORY);
    }

    @Test
    void networkInputAndOutputKnowsOnlyTheLowerLayersAndWhatIsBelowThem() {
        assertKnowsOnly(NET, LLP, VERBS, MEMORY, LINUX);
    }

    @Test
    void nothingInTheEngineKnowsAProvider() {
        noClasses()
                .that()
                .resideInAPackage("io.sidewarp.engine..")
                .should()
                .dependOnClassesThat()
                .resideInAPackage(PROVIDER)
                .allowEmptyShould(true)
                .check(ENGINE);
    }

    @Test
    void nettyIsKnownToNetworkInputAndOutputAndTheSoftwareProviderOnly() {
        noClasses()
                .that()
                .resideOutsideOfPackages(NET, SOFTWARE)
                .should()
                .dependOnClassesThat()
                .resideInAPackage("io.netty..")
                .allowEmptyShould(true)
                .check(ENGINE);
    }

    @Test
    void nativeCodeIsCalledByMemoryAndByTheBindingsOfLinuxSctpAndVerbsOnly() {
        noClasses()
                .that()
                .resideOutsideOfPackages(MEMORY, LINUX, SCTP_SOCKET, USRSCTP, KERNEL_SCTP, KERNEL_VERBS)
                .should()
                .dependOnClassesThat()
                .belongToAnyOf(Linker.class, SymbolLookup.class, Arena.class)
                .check(ENGINE);
    }

    @Test
    @Requirement("RDMAP-8.1.1-12")
    void nothingLoadsCodeOrStartsProgramsSoNoPeerCanMakeIt() {
        DescribedPredicate<JavaClass> loaders = DescribedPredicate.describe(
                "load code or run programs",
                type -> type.isAssignableTo(ClassLoader.class)
                        || type.isAssignableTo(ObjectInputStream.class)
                        || type.isAssignableTo(ProcessBuilder.class));
        DescribedPredicate<JavaMethodCall> loading = DescribedPredicate.describe(
                "loads code or runs a program",
                call -> call.getTargetOwner().isAssignableTo(MethodHandles.Lookup.class)
                                && call.getName().startsWith("define")
                        || call.getTargetOwner().isAssignableTo(Runtime.class)
                                && call.getName().matches("exec|load.*"));
        noClasses().should().dependOnClassesThat(loaders).check(ENGINE);
        noClasses().should().callMethodWhere(loading).check(ENGINE);
    }

    @Test
    void theProtocolDoesNoInputAndOutput() {
        // Memory maps shared regions through a FileChannel.
        DescribedPredicate<JavaClass> io = resideInAnyPackage("java.net..", "java.nio.channels..")
                .and(DescribedPredicate.describe(
                        "are not of a FileChannel",
                        type -> !type.getName().startsWith("java.nio.channels.FileChannel")))
                .as("classes for input and output");
        noClasses()
                .that()
                .resideInAnyPackage(PROTOCOL)
                .should()
                .dependOnClassesThat(io)
                .allowEmptyShould(true)
                .check(ENGINE);
        noClasses()
                .that()
                .resideInAnyPackage(LLP, DDP, RDMAP)
                .should()
                .dependOnClassesThat()
                .resideInAPackage("java.nio.channels..")
                .allowEmptyShould(true)
                .check(ENGINE);
    }

    @Test
    void theProtocolStartsNoThreads() {
        noClasses()
                .that()
                .resideInAnyPackage(PROTOCOL)
                .should()
                .dependOnClassesThat()
                .belongToAnyOf(Executors.class, ThreadFactory.class, Timer.class)
                .orShould()
                .callConstructor(Thread.class, Runnable.class)
                .orShould()
                .callMethod(Thread.class, "start")
                .orShould()
                .callMethod(Thread.class, "startVirtualThread", Runnable.class)
                .orShould()
                .callMethod(Thread.class, "ofVirtual")
                .orShould()
                .callMethod(Thread.class, "ofPlatform")
                .allowEmptyShould(true)
                .check(ENGINE);
    }

    /** The classes of {@code layer} depend on those of {@code below}, on their own and on libraries. */
    private static void assertKnowsOnly(String layer, String... below) {
        List<String> known = new ArrayList<>(Arrays.asList(below));
        known.add(layer);
        classes()
                .that()
                .resideInAPackage(layer)
                .should()
                .onlyDependOnClassesThat(resideInAnyPackage(known.toArray(String[]::new))
                        .or(DescribedPredicate.not(resideInAnyPackage("io.sidewarp.."))))
                .allowEmptyShould(true)
                .check(ENGINE);
    }
}
