"""`fencepost completion`: the script that makes a shell complete commands, options and names."""

import click
from click.shell_completion import get_completion_class


@click.command("completion")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def command(ctx: click.Context, shell: str) -> None:
    """Print what makes SHELL complete commands, options, topics, groups and transactional ids.

    \b
    Examples:
      fencepost completion bash
      source <(fencepost completion bash)
      fencepost completion zsh > _fencepost
      fencepost completion fish > fencepost.fish
    """
    completion_class = get_completion_class(shell)
    assert completion_class is not None
    program = completion_class(ctx.find_root().command, {}, "fencepost", "_FENCEPOST_COMPLETE")
    click.echo(program.source())
