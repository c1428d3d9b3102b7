# possibal home, for a team: see docs/teams.md.
FROM python:3.12-slim AS build
WORKDIR /source
COPY pyproject.toml README.md LICENSE ./
COPY src src
RUN python -m venv /opt/possibal && /opt/possibal/bin/pip install --no-cache-dir ".[excel,image,postgres]"

FROM python:3.12-slim
COPY --from=build /opt/possibal /opt/possibal
RUN useradd --uid 1000 --create-home possibal && install --directory --owner=possibal /campaigns
ENV PATH="/opt/possibal/bin:$PATH" PYTHONUNBUFFERED=1
USER possibal
WORKDIR /campaigns
VOLUME /campaigns
EXPOSE 8765
STOPSIGNAL SIGINT
HEALTHCHECK --interval=30s --timeout=10s --start-period=60s \
    CMD ["python", "-c", "from urllib.request import urlopen; urlopen('http://127.0.0.1:8765/api/session', timeout=8)"]
ENTRYPOINT ["possibal"]
CMD ["home", "--host", "0.0.0.0", "--port", "8765", "--no-browser"]
