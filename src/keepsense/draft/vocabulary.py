"""Vocabularies for names of columns, and the word that a name is about.

Inspections match the words of a column's name with these lists: identifiers, persons, sensitive facts, places and
others. The values of a column are recognized elsewhere (`keepsense.draft.recognizers`).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence

from keepsense.counts import Value

_QUESTION = re.compile(
    r"\s*(?:.*\?\s*|(?:do|did|have|has|are|is|were|was|will|would|should|can|could|how|what|which|why|when)[ ._]+"
    r"(?:you|your|often|much|many|likely|far|well|important)(?![a-z]).*|(?:\S+[ .]+){6,}\S+\s*)",
    re.IGNORECASE,
)


def words(text: str) -> frozenset[str]:
    """A vocabulary, written as words with blanks between.

    >>> sorted(words("zip plz"))
    ['plz', 'zip']
    """
    return frozenset(text.split())


IDS = words("id ids identifier key pid uid nr no number num guid uuid code rec record docket report")
"""Words that say: this numbers something. Only what hardly repeats, or has no other name, is an identifier for it."""

IDENTIFIERS = words(
    "name names surname firstname lastname forename fullname familyname givenname maiden nickname email mail phone "
    "telephone tel mobile cell fax ssn passport driver drivers iban account license licence plate mrn nhs nif dni vat "
    "cpf nino aadhaar username login url website ip mac token signature photo image fingerprint serial vin imei "
    "fname lname mname "
    "nachname vorname familienname telefon handy strasse hausnummer nom prenom telephone courriel nombre nombres "
    "apellido apellidos correo telefono cognome sobrenome apelido achternaam voornaam efternamn fornamn"
)
PERSONS = words(
    "patient person people subject client customer member user student pupil employee respondent participant "
    "individual citizen resident applicant borrower policyholder beneficiary donor driver player worker pid subj"
)
OTHER_THINGS = words(
    "encounter visit admission order invoice transaction claim record row case ticket event episode sample product "
    "item store shop school class department hospital provider doctor physician organization organisation company "
    "payer agency site device room batch type status disposition source category group zone area region district "
    "manager supervisor teacher team position job ad dept household family clinic ward page book"
)
"""What numbers can stand for besides people."""

SENSITIVE = words(
    # health
    "diagnosis diagnoses diag dx icd disease illness condition conditions symptom symptoms disorder comorbidity "
    "medication drug treatment therapy surgery procedure hiv disability allergy biopsy health cancer tumor tumour "
    "metastasis relapse recurrence remission diabetes hypertension asthma stroke infection pregnancy pregnant abortion "
    "dementia depression anxiety suicide smoker smoking smoke smokes cigarettes alcohol drinking "
    "outcome prognosis stage trt edema ascites baseline improved improvement resistance radiologic "
    "placebo treated treat regimen chemo chemotherapy radiation radiotherapy vaccine vaccinated vaccination adverse "
    "toxicity lesion lesions nodes histology receptor mutation genotype marker seizure seizures angina cardiac heart "
    "kidney liver lung copd ulcer anemia anaemia obese obesity overweight transplant fever cough bleeding pain injury "
    "injuries trauma readmission menopause contraceptive contraception sexual insomnia tobacco marijuana "
    "cannabis cocaine heroin opioid opioids substance addiction cigarette cigs drinks drinker chronic illnesses mental "
    "psychiatric cognitive dyspnea dyspnoea nausea vomiting headache fatigue rash diarrhea diarrhoea hepatomegaly "
    "jaundice arrhythmia infarction chf cad cvd htn ckd ptsd adhd autism bipolar schizophrenia epilepsy arthritis "
    "osteoporosis fracture fractures sepsis pneumonia covid influenza tuberculosis malaria hepatitis std sti "
    "miscarriage stillbirth preterm cesarean caesarean parity gravida breastfeeding icu ventilator intubated "
    "hospitalized hospitalised hospitalization hospitalisation statin aspirin metformin antibiotic antibiotics "
    "antidepressant prescription prescriptions rx meds medicine meno hormon hormone hormonal operation complication "
    "complications mortality survival survived progression recur recurred thrombosis clot artery coronary stent renal "
    "hepatic pulmonary vision hearing sleep snore vaping binge drunk "
    # money
    "income salary salaryclass wage wages earnings pay bonus debt debts debtor debtors credit credits loan loans "
    "mortgage balance savings bonds capital amount installment installments instalment instalments default "
    "arrears account expenses expense cost costs charges bill premium claim coverage tax taxes pension wealth assets "
    "turnover spending insurance deny denied approved price fee fees tuition fine fines payment payments paid repaid "
    "deposit deposits delinquent delinquency delinq bankrupt bankruptcy fico dti welfare benefits subsidy medicaid "
    "medicare insured uninsured donation donations revenue profit rent afford inc overdraft collateral guarantor ltv "
    "apr payout refund purchase purchases spend spent sales commission compensation remuneration stipend scholarship "
    "allowance dividend equity networth inheritance poverty budget payroll overtime billed copay deductible "
    "reimbursement claims indemnity bal amt limit trans chargeoff borrowed owed billing invoice purchased "
    # beliefs, deeds and judgements
    "religion faith politics political party vote voted orientation sexuality union crime offence offense conviction "
    "charge sentence recid recidivism recidivist arrest arrested prison parole felony misdemeanor "
    "grade grades gpa score scores exam result satisfaction satisfied rating performance opinion attitude engagement "
    "evaluation appraisal trust happiness stress violence abuse gamble gambling cheated reason "
    "agree favor favour approve approval ideology ideo liberal conservative democrat republican partyid relig "
    "religious religiosity church pray belief beliefs believe happy confidence worry fear preference moral morality "
    "tolerance prejudice gun guns pass passed fail failed verbal math maths iq gre sat toefl pretest posttest quiz "
    "midterm homework extraversion neuroticism openness agreeableness conscientiousness personality esteem wellbeing "
    "mood anger loneliness motivation burnout affair affairs criminal convicted jail bail priors offender fraud "
    "guilty verdict weapon complaint complaints absent absences absence absenteeism money earn earned recommendation "
    "recommended failures decision prior offenses offences convictions incarceration incarcerated churn churned "
    "attrition exited promoted fired dismissed disciplinary sanction penalty infraction violation citation "
    "frisk frisked searched contraband bullying harassment assault victimization dui psat satm satv act actm lsat mcat "
    "gmat ielts final finals mark percentile zscore nps likelihood willingness intention favorite favourite "
    "dropout expelled suspended suspension detention plagiarism "
    # the same in German, French, Spanish, Italian, Portuguese and Dutch
    "gehalt lohn einkommen verdienst kosten betrag schulden kredit vermogen diagnosen krankheit erkrankung "
    "behandlung medikament raucher religionszugehorigkeit konfession note noten zufriedenheit salaire revenu revenus "
    "montant cout dette maladie traitement fumeur notes moyenne salario sueldo ingreso ingresos renta deuda monto "
    "importe diagnostico enfermedad tratamiento fumador nota notas calificacion reddito stipendio malattia costo "
    "renda doenca fumante inkomen salaris loon ziekte kosten roker"
)
MEASURED = words(
    "lab labs laboratory procedures medications medicines drugs diagnoses tests measurement glucose bmi pressure "
    "cholesterol pulse hemoglobin haemoglobin insulin dose dosage level concentration intensity latency rate duration "
    "albumin platelet platelets bilirubin bili chol creatinine sodium potassium calcium hematocrit wbc rbc hgb hba ast "
    "alt alp inr crp ldl hdl triglycerides egfr psa tsh ferritin urea bun systolic diastolic temp temperature esr bwt "
    "birthweight protime phos copper karno titer titre ratio percent pct percentage proportion frequency freq length "
    "width thickness depth volume diameter days weeks minutes mins seconds delay wait waiting stay visits reaction "
    "accuracy correct errors test points marks reading writing science memory recall vocab vocabulary ability aptitude "
    "scale calories fat fiber fibre vitamin consumption intake usage "
    "sbp dbp bp gfr cd glu gluc sugar trig triglyceride uric hb hct mcv mch plt alb sgot sgpt ldh cpk troponin bnp "
    "ejection ecg ekg spo oxygen saturation respiratory gcs ecog apgar gestation gestational skinfold waist girth "
    "thyroid cortisol testosterone estrogen progesterone zinc iron lead mercury exposure antibody antigen viral serum "
    "plasma urine urinary fasting fev fvc phq gad bdi mmse moca steps pgr index density dosage doses units lifetime "
    "trestbps restecg thalach oldpeak fbs exang thal"
)
"""What is counted or measured by those who hold the data, and rarely known to others."""

KNOWN_BY_OTHERS = words(
    "sex gender age birth birthday birthdate dob born death deathdate zip zipcode postcode postal plz city town "
    "village place region county state province country nationality citizenship birthplace street address job "
    "occupation profession employer company workplace work industry sector education school degree marital married "
    "civil status children household ethnicity ethnic race language admission discharge visit date height hair eye "
    "hobby hobbies car vehicle housing tenure rank employment workclass relationship citizen "
    "female male woman man black white hispanic latino asian caucasian afam minority foreign foreigner immigrant urban "
    "rural residence residential smsa metro metropolitan suburb south northeast midwest neighborhood neighbourhood "
    "borough tract parish educ edu schooling schoolyears experience exper seniority kids kid child siblings sibling "
    "dependents family partner spouse husband wife father mother parents divorced widowed single cohabiting mar marr "
    "marstat veteran military retired major faculty department dept team league position title occ occup selfemp "
    "employed unemployed unemp year month quarter weekday season semester cohort handed handedness twin hire hired "
    "university college campus generation weight nationality homeowner owner renter hours fare ancestry hometown "
    "birthyear birthmonth residency visa marriage marriages sons daughters guardian tribe caste ethnicities yob joined "
    "commute dwelling apartment pets sport sports club suburban highschool diploma literacy literate birthdays nation "
    "geschlecht alter geburtsdatum geburtsjahr geburtsort beruf wohnort ort stadt staatsangehorigkeit familienstand "
    "bundesland kinder bildung schulabschluss sexe genre naissance ville pays profession commune departement metier "
    "sexo edad nacimiento ciudad pais profesion ocupacion provincia municipio escuela estado hijos sesso eta nascita "
    "comune professione idade nascimento cidade profissao geslacht leeftijd beroep woonplaats geboortedatum opleiding"
)
FORMS_OF_OTHERS = words("degree rank status work visit admission discharge school")
"""Words of those above that yield to a sensitive one beside them: the degree of a charge is none of a university."""

PREDICTED = words("y target label outcome response")
"""Whole names of columns that models are to predict."""

PLACES = words(
    "city town village place region county state province country birthplace district municipality location school "
    "tract company employer hospital street station airport native nationality"
)
NAME_PARTS = words("first last middle maiden given family sur fore")
COORDINATES = words(
    "lat latitude lon lng long longitude northing easting coordinate coordinates coord gps utm xcoord ycoord"
)
WEIGHTS = words("fnlwgt pweight sampweight hhweight wgt")
CODED = words("diag diagnosis diagnoses dx icd icd9 icd10 procedure")
POSTCODES = words("zip zipcode postcode postal plz cap")
COUNTED = words("num number count n no total")
_JOINING = words("of at in by for from with per to on since until")
_VAGUE = (
    words(
        "class cat category type group code cd id status level desc description text flag value is has was and or the a"
    )
    | COUNTED
)
"""Words that say of what form something is, rather than what it is."""


_TAILS = words(
    "income wage wages salary earnings score scores educ education gpa age weight height status loan debt cost costs "
    "experience price grade test size years date"
)
"""Words that end others without a mark between: `mathscore`, `hourlywage`, `fatheduc`."""

_GLUED = re.compile(rf"([a-z]{{3,}}|l|ln|log)({'|'.join(sorted(_TAILS, key=len, reverse=True))})")
_ALL = (
    IDS | IDENTIFIERS | PERSONS | OTHER_THINGS | SENSITIVE | MEASURED | KNOWN_BY_OTHERS | PLACES | COORDINATES | WEIGHTS
)
_WHOLE = words("mortgage average percentage dosage message usage damage storage stage page wage language village image")
"""Words that only look as if they were glued together."""


def words_of(name: str) -> list[str]:
    """Words of a column's name, however they are joined.

    >>> words_of("dateOfBirth"), words_of("patient_ID"), words_of("mathscore"), words_of("lwage")
    (['date', 'of', 'birth'], ['patient', 'id'], ['math', 'score'], ['l', 'wage'])
    >>> words_of("Prénom"), words_of("Größe")
    (['prenom'], ['grosse'])
    """
    plain = "".join(c for c in unicodedata.normalize("NFKD", name.replace("ß", "ss")) if not unicodedata.combining(c))
    parted = re.sub(r"([a-z0-9])([A-Z])", r"\1 \2", plain)
    return [part for word in re.findall(r"[a-z]+", parted.lower()) for part in _unglued(word)]


_TELLING = SENSITIVE | MEASURED | KNOWN_BY_OTHERS | IDENTIFIERS | PERSONS
_BEFORE = words(
    "tot total avg mean max min prev prior cur curr current num has is had new old pre post my fam any ever"
)
"""What stands before another word without a mark between: `totchol`, `prevstroke`."""


def _unglued(word: str) -> tuple[str, ...]:
    if word not in _ALL | _WHOLE | _BEFORE:
        for at in range(2, len(word) - 2):
            first, second = word[:at], word[at:]
            if second not in _TELLING or (first not in _BEFORE and (at < 4 or first not in _ALL)):
                continue
            if len(second) >= 4 or (at >= 4 and first in _TELLING):
                return first, second
    glued = None if word in _ALL | _WHOLE else _GLUED.fullmatch(word)
    # two or three letters end too many words: only after a word that is known, or the sign of a logarithm
    if glued is None or (len(glued[2]) < 4 and glued[1] not in _ALL | {"l", "ln", "log"}):
        return (word,)
    return glued[1], glued[2]


def meant_by(word: str) -> str | None:
    """The word of the vocabularies that an unknown one begins or is begun by: `diabet` is diabetes, `smokenow` smoke.

    None where those that come in question say different things about a column.

    >>> meant_by("diabet"), meant_by("smokenow"), meant_by("hypert"), meant_by("demo")
    ('diabetes', 'smoke', 'hypertension', None)
    """
    if len(word) < 6 or word in _ALL | _BEFORE:  # shorter ones begin words of another kind, too
        return None
    near = [known for known in _ROLES_TOLD if known.startswith(word)]
    near = near or [known for known in _ROLES_TOLD if len(known) >= 5 and word.startswith(known)]
    roles = {(known in SENSITIVE | MEASURED, known in KNOWN_BY_OTHERS) for known in near}
    return min(near, key=lambda known: (len(known), known)) if len(roles) == 1 else None


_ROLES_TOLD = SENSITIVE | MEASURED | KNOWN_BY_OTHERS


_NAMELESS = words("v x var c f col column field attribute feature unnamed")


def stem_of(name: str) -> str:
    """A name without its number, where it is the number of an item: of `Q3` and `Q12` it is `q`.

    Names that readers make up (`V3`, `column_3`) are no items, and stay as they are.

    >>> stem_of("Q12"), stem_of("item_3"), stem_of("V3"), stem_of("age")
    ('q', 'item', 'V3', 'age')
    """
    item = re.fullmatch(r"([A-Za-z_. ]*[A-Za-z])[_. ]?\d{1,3}", name.strip())
    return name if item is None or item[1].lower() in _NAMELESS else item[1].lower()


def head_of(name: Sequence[str]) -> str | None:
    """The word of a name that says what it is about: the last one before a preposition that is not vague.

    >>> head_of(["offense", "date"]), head_of(["age", "at", "diagnosis"]), head_of(["salary", "cat", "class"])
    ('date', 'age', 'salary')
    """
    joined = next((i for i, word in enumerate(name) if i and word in _JOINING), len(name))
    telling = [word for word in name[:joined] if word not in _VAGUE] or [w for w in name[joined:] if w not in _VAGUE]
    return telling[-1] if telling else None


def named_like(name: str, vocabulary: Iterable[str]) -> str | None:
    """The first word of a column's name that is in a vocabulary.

    >>> named_like("home_zip", POSTCODES)
    'zip'
    """
    known = set(vocabulary)
    return next((word for word in words_of(name) if word in known), None)


def counts_things(name: str, values: Iterable[Value]) -> bool:
    """Whether a column counts what its name says: `number_diagnoses` of 1, 2, 3 holds no codes of diagnoses.

    >>> counts_things("number_diagnoses", ["1", "9"]), counts_things("diagnosis_no", ["250.8", "38"])
    (True, False)
    """
    return named_like(name, COUNTED) is not None and all(re.fullmatch(r"\d{1,2}(\.0)?", str(v).strip()) for v in values)


def is_question(name: str) -> bool:
    """Whether the name of a column is a question to somebody, or a sentence to agree with.

    >>> is_question("Do you smoke?"), is_question("how_often_read"), is_question("home town")
    (True, True, False)
    """
    return _QUESTION.fullmatch(name) is not None
