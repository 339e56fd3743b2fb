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
from keepsense.guide.regulation_checks import check_rules as check_rules
from keepsense.hierarchies.formats.hierarchy_formats import read_hierarchy as read_hierarchy
from keepsense.hierarchies.hierarchy import Hierarchy as Hierarchy
from keepsense.privacy.k_anonymity import KAnonymity as KAnonymity
from keepsense.privacy.k_map import DeltaPresence as DeltaPresence
from keepsense.privacy.l_diversity import LDiversity as LDiversity
from keepsense.privacy.t_closeness import TCloseness as TCloseness
from keepsense.recoding import Recoding as Recoding
from keepsense.results import Comparison as Comparison
from keepsense.results import Release as Release
from keepsense.semantics.distance import distance as distance
from keepsense.taxonomy.embedded_taxonomies import wordnet as wordnet
from keepsense.taxonomy.mapper import map_values as map_values
from keepsense.taxonomy.taxonomy import Taxonomy as Taxonomy

__version__: str
