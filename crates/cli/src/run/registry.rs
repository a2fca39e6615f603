//! The verbs of `isowarp run`: one row each, with all that the command knows of it.

use super::options::{self, Opt, RunArgs};
use super::plan::Plan;
use super::verbs;
use crate::failure::Result;
use crate::npy::Array;
use clap::{Arg, ArgMatches, Command, Error, FromArgMatches, Subcommand};

/// A verb: a pattern as the command line has it.
#[derive(Debug)]
pub(crate) struct Verb {
    pub(crate) name: &'static str,
    /// Description of the result, in a line or two.
    pub(super) about: &'static str,
    /// A command line, after `isowarp run`.
    pub(super) example: &'static str,
    pub(super) inputs: Inputs,
    /// The options of its own.
    pub(super) options: &'static [Opt],
    /// Plan for arguments and inputs.
    pub(super) plan: fn(&RunArgs, &[Array]) -> Result<Plan>,
    /// The benchmark that stands for it, of [`isowarp_benches::works()`].
    pub(crate) bench: &'static str,
}

/// Number of inputs.
#[derive(Clone, Copy, Debug)]
pub(super) struct Inputs {
    pub(super) least: usize,
    pub(super) most: usize,
    /// With --by-key.
    pub(super) keyed: usize,
    /// Whether they may have shapes of their own.
    pub(super) own_shapes: bool,
}

impl Inputs {
    pub(super) const NONE: Self = Self::between(0, 0);
    pub(super) const ONE: Self = Self::between(1, 1);
    /// Of one shape.
    pub(super) const TWO: Self = Self::between(2, 2);
    /// Each of its own shape.
    pub(super) const PAIR: Self = Self { own_shapes: true, ..Self::TWO };
    pub(super) const SEVERAL: Self = Self { own_shapes: true, ..Self::between(2, 3) };
    pub(super) const TRIPLE: Self = Self { own_shapes: true, ..Self::between(3, 3) };
    /// Arrays of one shape that an expression is about.
    pub(super) const OF_EXPRESSION: Self = Self::between(1, 4);

    pub(super) const fn between(least: usize, most: usize) -> Self {
        Self { least, most, keyed: 2, own_shapes: false }
    }

    pub(super) const fn keyed(self, keyed: usize) -> Self {
        Self { keyed, ..self }
    }
}

/// Every verb, in the order of the help.
pub(crate) fn all() -> impl Iterator<Item = &'static Verb> {
    verbs::ALL.iter().copied().flatten()
}

impl Verb {
    /// Whether an option is one of its own.
    pub(super) fn takes(&self, name: &str) -> bool {
        self.options.iter().any(|option| option().get_id() == name)
    }

    fn command(&self) -> Command {
        let inputs = (self.inputs.most > 0).then(options::inputs);
        let own = self.options.iter().map(|option| option());
        let args: Vec<Arg> = inputs.into_iter().chain(own).chain(options::common(verbs::report(self.name).is_some())).collect();
        let example = format!("Example:\n  {}", self.line());
        let operators = if self.takes("op") { format!("\n\n{}", super::help::OPERATORS) } else { String::new() };
        let more = format!("{example}{operators}\n\nConventions and files: isowarp run --help");
        Command::new(self.name).about(self.about).args(args).after_help(example).after_long_help(more)
    }

    /// A command line as an example.
    pub(crate) fn line(&self) -> String {
        format!("isowarp run {} {}", self.name, self.example)
    }
}

impl Subcommand for RunArgs {
    fn augment_subcommands(command: Command) -> Command {
        command.subcommands(all().map(Verb::command))
    }

    fn augment_subcommands_for_update(command: Command) -> Command {
        Self::augment_subcommands(command)
    }

    fn has_subcommand(name: &str) -> bool {
        all().any(|verb| verb.name == name)
    }
}

impl FromArgMatches for RunArgs {
    fn from_arg_matches(matches: &ArgMatches) -> std::result::Result<Self, Error> {
        let found = matches.subcommand().and_then(|(name, of)| all().find(|verb| verb.name == name).map(|verb| Self::new(verb, of)));
        found.ok_or_else(|| Error::new(clap::error::ErrorKind::MissingSubcommand))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> std::result::Result<(), Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::{Cli, Command as Of};
    use clap::{CommandFactory as _, Parser as _};
    use std::collections::BTreeSet;

    #[test]
    fn names_are_one_verbs_and_every_command_line_can_be_parsed() {
        Cli::command().debug_assert();
        let names: BTreeSet<_> = all().map(|verb| verb.name).collect();
        assert_eq!(names.len(), all().count());
    }

    /// Reads a command line as a shell does, as far as examples need it.
    fn words(line: &str) -> Vec<String> {
        line.split('"')
            .enumerate()
            .flat_map(|(k, part)| if k % 2 == 1 { vec![part] } else { part.split_whitespace().collect() })
            .map(str::to_owned)
            .collect()
    }

    #[test]
    fn every_example_is_a_command_line_that_makes_sense() {
        for verb in all() {
            let cli = Cli::try_parse_from(words(&verb.line())).unwrap_or_else(|e| panic!("{}: {e}", verb.line()));
            let Some(Of::Run(args)) = cli.command else { panic!("{} does not run", verb.line()) };
            assert_eq!(args.verb.name, verb.name);
            super::super::check::check(&args).unwrap_or_else(|e| panic!("{}: {e}", verb.line()));
        }
    }

    #[test]
    fn help_of_a_verb_has_its_own_options_and_an_example() {
        let help = |name: &str| {
            let mut cli = Cli::command();
            let run = cli.find_subcommand_mut("run").expect("run");
            run.find_subcommand_mut(name).expect("the verb").render_help().to_string()
        };
        let (scan, reverse) = (help("scan"), help("reverse"));
        assert!(
            scan.contains("--exclusive") && scan.contains("--axis") && !scan.contains("--bins") && scan.contains("isowarp run scan"),
            "{scan}"
        );
        assert!(!reverse.contains("--op") && reverse.contains("isowarp run reverse"), "{reverse}");
        // Its own, those that all have, and --help.
        assert_eq!(reverse.lines().filter(|l| l.trim_start().starts_with('-')).count(), 7, "{reverse}");
    }
}
