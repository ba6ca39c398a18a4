// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.cli.manual;

import java.util.Locale;
import picocli.AutoComplete;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code sidewarp completion}. */
@Command(
        name = "completion",
        header = "Print a script that completes commands and options in a shell.",
        description = {"The script is the same for both shells. It completes sidewarp and ./sidewarp.", ""},
        footerHeading = "%nExamples:%n",
        footer = {
            "  source <(sidewarp completion bash)",
            "  sidewarp completion bash > ~/.local/share/bash-completion/completions/sidewarp"
        })
public final class CompletionCommand implements Runnable {

    /** A shell that the script is for. */
    private enum Shell {
        BASH,
        ZSH;

        @Override
        public String toString() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    @SuppressWarnings("unused") // The script is the same for both shells.
    @Parameters(paramLabel = "bash|zsh", description = "The shell.")
    private Shell shell = Shell.BASH;

    @Spec
    private CommandSpec spec;

    @Override
    public void run() {
        CommandSpec root = spec.root();
        spec.commandLine().getOut().print(AutoComplete.bash(root.name(), root.commandLine()));
        spec.commandLine().getOut().flush();
    }
}
