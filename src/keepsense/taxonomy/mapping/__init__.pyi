from keepsense.taxonomy.mapping.mapper import map_values as map_values
from keepsense.taxonomy.mapping.table import Mapping as Mapping
