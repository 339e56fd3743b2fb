"""The page for those who come from other tools names only what there is, and leaves out nothing that they have."""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path

import keepsense.risk.risk_metrics
import keepsense.utility  # noqa: F401  (and those of utility)
from keepsense.commands.command_registry import COMMANDS
from keepsense.hierarchies.column_kinds import KINDS
from keepsense.methods.generalize.objective import METRICS as GOALS
from keepsense.methods.method import METHODS
from keepsense.metrics import METRICS
from keepsense.privacy.privacy_model import PRIVACY
from keepsense.project.project_file import Column, Project
from keepsense.project.roles import ROLES

PAGE = (Path(__file__).parents[2] / "docs" / "how-to" / "coming-from-other-tools.md").read_text(encoding="utf-8")
ROWS = [line.strip("|").split(" | ") for line in PAGE.splitlines() if line.startswith("| ")]
THEIRS = " ".join(row[0] for row in ROWS)

ARX = """
KAnonymity DistinctLDiversity EntropyLDiversity RecursiveCLDiversity EqualDistanceTCloseness OrderedDistanceTCloseness
HierarchicalDistanceTCloseness DDisclosurePrivacy BasicBLikeness EnhancedBLikeness DPresence KMap PopulationUniqueness
SampleUniqueness AverageReidentificationRisk EDDifferentialPrivacy Inclusion ProfitabilityProsecutor
ProfitabilityJournalist ProfitabilityProsecutorNoAttack ProfitabilityJournalistNoAttack createLossMetric
createPrecisionMetric createEntropyMetric createNormalizedEntropyMetric createDiscernabilityMetric createAECSMetric
createHeightMetric createAmbiguityMetric createKLDivergenceMetric createEntropyBasedInformationLossMetric
createClassificationMetric createPublisherPayoutMetric createStaticMetric QualityModelColumnOrientedLoss
QualityModelColumnOrientedPrecision QualityModelColumnOrientedNonUniformEntropy QualityModelColumnOrientedSquaredError
QualityModelRowOrientedSquaredError QualityModelRowOrientedSSESST QualityModelRowOrientedAmbiguity
QualityModelRowOrientedDiscernibility QualityModelRowOrientedAECS StatisticsClassification StatisticsSummary
StatisticsFrequencyDistribution StatisticsContingencyTable StatisticsEquivalenceClasses RiskModelSampleRisks
RiskModelSampleSummary RiskModelSampleRiskDistribution RiskModelHistogram RiskModelSampleUniqueness
RiskModelSampleWildcard RiskModelPopulationUniqueness RiskModelAttributes RiskModelHIPAASafeHarbor RiskModelCostBenefit
HierarchyBuilderDate HierarchyBuilderGroupingBased HierarchyBuilderIntervalBased HierarchyBuilderOrderBased
HierarchyBuilderPriorityBased HierarchyBuilderRedactionBased ARXCertificate ARXLattice
"""
"""Privacy models, utility measures, quality and risk models and hierarchy builders of ARX 3.9.2, by their classes."""
SDCMICRO = """
strataVar<- AI_applyAnonymization AI_createSdcObj IL_correl IL_variables LocalRecProg addGhostVars addNoise
argus_microaggregation argus_rankswap calcRisks createDat createNewID createSdcObj dRisk dRiskRMD dUtility dataGen
extractManipData freq freqCalc generateStrata get.sdcMicroObj globalRecode groupAndRename importProblem indivRisk
infoLoss kAnon kAnon_violations ldiversity localSupp localSuppression mafast measure_risk mergeHouseholdData
microaggrGower microaggregation modRisk mvTopCoding nextSdcObj plot.localSuppression plotMicro pram rankSwap
readMicrodata recordLinkage recordSwap removeDirectID report riskyCells sdcApp selectHouseholdData set.sdcMicroObj
shuffle suda2 topBotCoding undolast valTable varToFactor varToNumeric writeSafeFile
"""
"""What the NAMESPACE of sdcMicro 5.8.1 exports."""
AMNESIA = """
loadData loadDICOM generateHierarchy generateAndLoadDemographicHierarchy loadHierarchies removeHierarchies Flash
ParallelFlash ClusterBasedAlgorithm DemographicAlgorithm Apriori MixedApriori DifferentialPrivacyAlgorithm getSolution
getSuppressPercentage getSuppressedSolution setMask getAnonRules loadAnonRules informationLoss getStatistics getSession
clearSession
"""
"""Algorithms of Amnesia by their classes, and the services of its interface."""


def named(what: str) -> set[str]:
    return set(re.findall(rf"\b{what} `([^`]+)`", PAGE))


def test_what_is_named_is_in_its_registry() -> None:
    assert named("method") - set(METHODS) == set()
    assert named("promise") - set(PRIVACY) == set()
    assert named("metric") - set(METRICS) == set()
    assert named("goal") == set(GOALS) - {"ncp", "geniloss"}
    assert named("role") == set(ROLES)
    assert named("kind") - set(KINDS) == set()
    assert min(len(named("method")), len(named("promise")), len(named("metric"))) >= 15


def test_commands_and_keys_are_there() -> None:
    commands = {command.split()[0] for command in re.findall(r"`keepsense ([^`]+)`", PAGE)}
    assert len(commands) >= 10
    assert commands - set(COMMANDS) == set()
    assert set(re.findall(r"`(\w+)` of a column", PAGE)) <= set(Column.model_fields)
    assert set(re.findall(r"`\[+(\w+)\]+`", PAGE)) <= set(Project.model_fields)


def test_every_promise_of_theirs_that_we_have_is_told() -> None:
    ours_alone = {"(alpha,k)-anonymity", "(X,Y)-anonymity", "probabilistic k-anonymity"}
    assert set(PRIVACY) - named("promise") == ours_alone


def test_everything_of_theirs_has_a_row() -> None:
    names = f"{ARX} {SDCMICRO} {AMNESIA}".split()
    assert not [name for name in names if not re.search(rf"`{re.escape(name)}[`(]", THEIRS)]


def test_functions_are_there() -> None:
    assert named("function")
    for dotted in named("function"):
        module, _, name = dotted.rpartition(".")
        assert callable(getattr(import_module(module), name)), dotted


def test_every_row_has_two_cells_and_says_why_something_is_missing() -> None:
    assert len(ROWS) > 120
    for row in ROWS:
        assert len(row) == 2, row
        assert row[1].strip(), row
        assert "not there yet" not in row[1], row
        if row[1].strip().startswith("not there"):
            assert len(row[1].split()) > 4, row
