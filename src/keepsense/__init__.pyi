from keepsense.counts import Counts as Counts
from keepsense.errors import KeepsenseError as KeepsenseError
from keepsense.hierarchies import Hierarchy as Hierarchy
from keepsense.recoding import Recoding as Recoding
from keepsense.semantics import distance as distance
from keepsense.taxonomy import Taxonomy as Taxonomy
from keepsense.taxonomy import map_values as map_values
from keepsense.taxonomy import wordnet as wordnet

__version__: str
