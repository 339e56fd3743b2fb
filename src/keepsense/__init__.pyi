from keepsense.api import anonymize as anonymize
from keepsense.api import assess as assess
from keepsense.api import compare as compare
from keepsense.api import guide as guide
from keepsense.api import inspect as inspect
from keepsense.api import read_release as read_release
from keepsense.api import run as run
from keepsense.api import verify as verify
from keepsense.counts import Counts as Counts
from keepsense.errors import Infeasible as Infeasible
from keepsense.errors import KeepsenseError as KeepsenseError
from keepsense.guide.rules import check_rules as check_rules
from keepsense.hierarchies import Hierarchy as Hierarchy
from keepsense.hierarchies import read_hierarchy as read_hierarchy
from keepsense.privacy import DeltaPresence as DeltaPresence
from keepsense.privacy import KAnonymity as KAnonymity
from keepsense.privacy import LDiversity as LDiversity
from keepsense.privacy import TCloseness as TCloseness
from keepsense.recoding import Recoding as Recoding
from keepsense.results import Comparison as Comparison
from keepsense.results import Release as Release
from keepsense.semantics import distance as distance
from keepsense.taxonomy import Taxonomy as Taxonomy
from keepsense.taxonomy import map_values as map_values
from keepsense.taxonomy import wordnet as wordnet

__version__: str
