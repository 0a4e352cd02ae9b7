# One image for a laptop, for Binder and for a hub on Kubernetes (docs/hub.md): JupyterLab, nbgrader, and what students
# get, for a user of any number. The first stage holds the clone; no solution and no hidden question leaves it.
FROM python:3.12-slim-bookworm AS made
COPY . /clone
WORKDIR /clone
RUN python3 -m deploy.hub.install /srv/course --only packages --only course --only settings --only notebooks
# A hub on Kubernetes brings its own JupyterHub, and the image wants the same one: --build-arg JUPYTERHUB=5.5.0
ARG JUPYTERHUB=""
RUN test -z "$JUPYTERHUB" || /srv/course/environment/bin/python -m pip install --quiet "jupyterhub==$JUPYTERHUB"
# What nobody runs: libraries' own tests, and what is for compiling against PyTorch. It looks for torch_shm_manager.
RUN cd /srv/course/environment/lib/python3*/site-packages && rm -r torch/include torch/test && find torch/bin -type f ! -name torch_shm_manager -delete && find . -type d -name tests -prune -exec rm -r {} +

FROM python:3.12-slim-bookworm
COPY --from=made /srv/course /srv/course
# settings/image: without an exchange, nbgrader's list of assignments has nothing to show.
ENV PATH=/srv/course/environment/bin:$PATH \
    JUPYTER_CONFIG_PATH=/srv/course/settings/image:/srv/course/settings/student:/srv/course/settings/jupyter/student:/srv/course/settings/everyone:/srv/course/settings/jupyter/everyone \
    JUPYTER_PREFER_ENV_PATH=1 \
    COURSE_EXCHANGE=/srv/exchange

# Binder names the user; nbgrader takes the hub's name for who is called jovyan.
ARG NB_USER=jovyan
ARG NB_UID=1000
RUN useradd --create-home --uid "$NB_UID" --shell /bin/bash "$NB_USER"
USER $NB_UID
ENV HOME=/home/$NB_USER USER=$NB_USER
WORKDIR /home/$NB_USER
# work/ is the student's own copy; a home that a hub mounts over this one has neither, and makes both at each start.
RUN cp -r /srv/course/notebooks . && python -m tutor work
EXPOSE 8888
CMD ["jupyter", "lab", "--ip=0.0.0.0", "--no-browser", "work"]
