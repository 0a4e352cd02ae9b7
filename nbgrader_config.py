"""A plain nbgrader course: the folders of this repository under nbgrader's names."""

import os
import sys

from nbconvert.preprocessors import ClearMetadataPreprocessor
from nbgrader import preprocessors

from grading.autograder.preprocessors import MendCells, SandboxedExecute, SaveMarks, TakeAnswers
from grading.autograder.releasing import RELEASING, keep_released
from grading.folder.course import COURSE_ID
from tutor import validating
from tutor.overview import ESSAY_STUB

c = get_config()  # noqa: F821 - nbgrader defines it when it reads this file
validating.configure(c)
programs = os.path.dirname(sys.executable)  # nbgrader calls alembic by name, whether or not this one is called by path
if programs not in os.environ.get("PATH", "").split(os.pathsep):
    os.environ["PATH"] = os.pathsep.join([programs, os.environ.get("PATH", os.defpath)])

c.CourseDirectory.course_id = COURSE_ID
c.CourseDirectory.root = os.path.dirname(os.path.abspath(__file__))
c.CourseDirectory.source_directory = "solutions"
c.CourseDirectory.release_directory = "notebooks"
c.CourseDirectory.submitted_directory = "gradebook/submitted"
c.CourseDirectory.autograded_directory = "gradebook/autograded"
c.CourseDirectory.feedback_directory = "gradebook/feedback"
c.CourseDirectory.solution_directory = "gradebook/solution"
# The gradebook; docs/postgresql.md says how several graders share one on a server.
c.CourseDirectory.db_url = "sqlite:///" + os.path.join(c.CourseDirectory.root, "gradebook", "gradebook.db")
# The text sources lie beside the assignment folders; nothing but the notebook may be released from one.
c.CourseDirectory.ignore = [".ipynb_checkpoints", "*.pyc", "__pycache__", "feedback", "*.py"]

c.ClearSolutions.code_stub = {"python": 'raise NotImplementedError("Replace this line by your answer")'}
c.ClearSolutions.text_stub = ESSAY_STUB

# An assignment may get other points and exercises in mid-term; grading takes it into the gradebook by itself.
keep_released()
c.GenerateAssignment.preprocessors = RELEASING
c.Autograde.pre_convert_hook = "grading.autograder.releasing.enter_assignment"
# `nbgrader autograde` and formgrader's button run students' code in the sandbox of `python -m grading autograde`.
c.Autograde.sanitize_preprocessors = [
    TakeAnswers,
    preprocessors.ClearOutput,
    preprocessors.DeduplicateIds,
    preprocessors.OverwriteKernelspec,
    preprocessors.OverwriteCells,
    MendCells,
    preprocessors.CheckCellMetadata,
]
c.Autograde.autograde_preprocessors = [
    SandboxedExecute,
    preprocessors.IgnorePattern,
    ClearMetadataPreprocessor,
    preprocessors.LimitOutput,
    SaveMarks,
    preprocessors.AssignLatePenalties,
    preprocessors.CheckCellMetadata,
]
# Where no sandbox can be made, or for submissions that you would run yourself: students' code then runs with your
# rights, in a plain kernel, within the limits below it.
c.SandboxedExecute.unprotected = False
c.Execute.timeout = 360  # wall-clock seconds for one cell, as a last resort: after 60 s of CPU time the kernel ends it
c.Execute.iopub_timeout = 60  # seconds for what a cell has printed to arrive; a busy machine needs more than 4
c.Execute.skip_cells_with_tag = "experiment"  # training runs and plots: no mark depends on them
# Points off for late work, by nbgrader's plugin or one of your own; due dates and extensions are in the gradebook.
c.LateSubmissionPlugin.penalty_method = "none"  # "zero" takes everything off
# Our own page: nbgrader's shows hidden tests, runs what students wrote as HTML, and needs a network for formulas.
c.GenerateFeedback.exporter_class = "grading.pages.exporter.FeedbackExporter"
c.GenerateFeedback.preprocessors = ["grading.pages.exporter.Grades"]
# formgrader too would run what students wrote as HTML, with the rights of whoever is logged in: it is shown as typed.
c.HTMLExporter.filters = {"markdown2html": "grading.pages.markup.markdown_of_cell"}
# A hub names the exchange that all its users share; without one it lies in the course, and everybody is one account.
own_exchange = os.path.join(c.CourseDirectory.root, "gradebook", "exchange")
c.Exchange.root = os.environ.get("COURSE_EXCHANGE") or own_exchange
c.ExchangeCollect.check_owner = c.Exchange.root != own_exchange
c.ExchangeFactory.collect = "grading.classroom.exchange.CollectOwned"
c.ExchangeFactory.release_feedback = "grading.classroom.exchange.ReleasePages"
work = os.path.join(c.CourseDirectory.root, "work")
if os.path.isdir(work):  # where `make lab` lets students work: what they hand in by the exchange comes from there
    c.Exchange.assignment_dir = work
c.ExportPlugin.to = "gradebook/grades.csv"
